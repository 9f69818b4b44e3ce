// Shell completion, generated from the command line's declaration.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace attnscope {

// The completion script for `app`'s commands, options and values in `shell`: "bash", "zsh" or "fish". It is
// self-contained: a program is too slow to run at every Tab.
std::string completion_script(const CLI::App& app, std::string_view shell);

}  // namespace attnscope
