#include "storage/own_program.h"

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace attnscope {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const auto is_replaced = [&](const auto& each) { return text.starts_with(each.first + "="); };
    if (std::ranges::none_of(variables, is_replaced)) environment.emplace_back(text);
  }
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

pid_t start_own_program(std::vector<std::string> arguments, std::vector<std::string> environment,
                        const sigset_t* mask) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (mask != nullptr) {
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, mask);
  }
  pid_t process = 0;
  const int error = posix_spawn(&process, "/proc/self/exe", nullptr, &attributes, pointers(arguments).data(),
                                pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::runtime_error(fmt::format("attnscope cannot be started: {}", std::strerror(error)));
  return process;
}

}  // namespace attnscope
