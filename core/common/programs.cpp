#include "common/programs.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace attnscope {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

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

NamelessFile::NamelessFile(std::string_view bytes) : descriptor_(::memfd_create("attnscope", MFD_CLOEXEC)) {
  if (descriptor_ < 0) fail("memfd_create");
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      const int error = errno;
      ::close(descriptor_);
      errno = error;
      fail("write");
    }
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  ::lseek(descriptor_, 0, SEEK_SET);
}

NamelessFile::~NamelessFile() {
  ::close(descriptor_);
}

pid_t start_program(std::vector<std::string> arguments, const NamelessFile& input) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.descriptor(), STDIN_FILENO);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  errno = ::posix_spawnp(&process, arguments.front().c_str(), &actions, nullptr, pointers(arguments).data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (errno != 0) fail(arguments.front());
  return process;
}

pid_t start_own_program(std::vector<std::string> arguments, std::vector<std::string> environment, const sigset_t* mask,
                        int talk) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (talk >= 0) {
    for (const int end : {STDIN_FILENO, STDOUT_FILENO}) posix_spawn_file_actions_adddup2(&actions, talk, end);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (mask != nullptr) {
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, mask);
  }
  pid_t process = 0;
  const int error = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, pointers(arguments).data(),
                                pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(fmt::format("attnscope cannot be started: {}", std::strerror(error)));
  return process;
}

int status_at_end(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) fail("waitpid");
  return status;
}

// Ignoring SIGCHLD instead would make every waitpid fail.
void let_run(pid_t process, std::function<void(int status)> ended) {
  std::thread([process, ended = std::move(ended)] {
    const int status = status_at_end(process);
    if (ended) ended(status);
  }).detach();
}

}  // namespace attnscope
