// What shells complete on the command line, made of the command line's own declaration.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace attnscope {

// The script that completes `app`'s commands, options and values in `shell`: "bash", "zsh" or "fish". It has all of
// them in it, for a program that loads LibTorch is too slow to be asked at every Tab.
std::string completion_script(const CLI::App& app, std::string_view shell);

}  // namespace attnscope
