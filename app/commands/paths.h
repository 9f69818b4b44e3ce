// Where the program's own files and the user's settings are.
#pragma once

#include <filesystem>

namespace attnscope {

// <folder of the program>/../share/attnscope: the same in the build tree and where it is installed.
std::filesystem::path asset_folder();

// The run that came with the program. It may be missing: check with is_run.
std::filesystem::path shipped_run();

// Where the window keeps runs that nobody saved: $XDG_STATE_HOME/attnscope/runs, else ~/.local/state/attnscope/runs.
// Empty as config_folder.
std::filesystem::path autosaves_folder();

// $XDG_CONFIG_HOME/attnscope, else ~/.config/attnscope. Empty when neither XDG_CONFIG_HOME nor HOME is an absolute
// path.
std::filesystem::path config_folder();

}  // namespace attnscope
