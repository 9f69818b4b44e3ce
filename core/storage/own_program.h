// This program once more, as another process.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace attnscope {

// What this process has in its environment, with those variables in place of its own of the same name. There, and not
// among the arguments, the processes of others cannot read them.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables);

// Starts it with those arguments, the first of which is its name; `mask` is of the signals that are blocked there, null:
// as here. Throws std::runtime_error if it cannot be started.
pid_t start_own_program(std::vector<std::string> arguments, std::vector<std::string> environment,
                        const sigset_t* mask = nullptr);

}  // namespace attnscope
