// Paths of the program's files and the user's settings.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope {

// <folder of the program>/../share/attnscope: the same in the build tree and after installation.
std::filesystem::path asset_folder();

// The shipped run. It may be missing: check with is_run.
std::filesystem::path shipped_run();

// The installed page.html (files/captures/page.h); empty if it cannot be read.
std::string page_template();

// Quotes the text as one word of a POSIX shell.
std::string shell_quoted(const std::string& text);

// The folder for autosaves: $XDG_STATE_HOME/attnscope/runs, else ~/.local/state/attnscope/runs. Empty under the same
// conditions as config_folder.
std::filesystem::path autosaves_folder();

// $XDG_CONFIG_HOME/attnscope, else ~/.config/attnscope. Empty if neither XDG_CONFIG_HOME nor HOME is an absolute path.
std::filesystem::path config_folder();

}  // namespace attnscope
