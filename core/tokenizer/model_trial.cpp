#include "tokenizer/model_trial.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <cerrno>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "tokenizer/sentence_piece.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {
namespace {

[[noreturn]] void fail(const char* what) {
  throw TokenizerError(fmt::format("cannot try the SentencePiece model out: {}: {}", what, std::strerror(errno)));
}

// A file without a name.
class Nameless {
 public:
  explicit Nameless(std::string_view bytes) : descriptor_(::memfd_create("tokenizer.model", MFD_CLOEXEC)) {
    if (descriptor_ < 0) fail("memfd_create");
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) fail("write");
      if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    ::lseek(descriptor_, 0, SEEK_SET);
  }
  ~Nameless() { ::close(descriptor_); }
  Nameless(const Nameless&) = delete;
  Nameless& operator=(const Nameless&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// How the program ended that has the file as its input, as waitpid tells it.
int status_of(const std::string& program, const Nameless& input) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.descriptor(), STDIN_FILENO);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
  char* const arguments[] = {const_cast<char*>(program.c_str()), nullptr};
  pid_t child = 0;
  errno = ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (errno != 0) fail(program.c_str());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail("waitpid");
  return status;
}

// Tried and found to be in order; a hash and a length each.
class Tried {
 public:
  bool contains(std::string_view model) {
    const std::scoped_lock lock(mutex_);
    return models_.contains(key(model));
  }
  void add(std::string_view model) {
    const std::scoped_lock lock(mutex_);
    models_.insert(key(model));
  }

 private:
  using Key = std::pair<std::size_t, std::size_t>;
  static Key key(std::string_view model) { return {std::hash<std::string_view>()(model), model.size()}; }

  std::mutex mutex_;
  std::set<Key> models_;
};

}  // namespace

void try_apart(std::string_view model) {
  static Tried tried;
  if (tried.contains(model)) return;
  const int status = status_of(sentence_piece_folder() / ATTNSCOPE_SENTENCEPIECE_TRIAL, Nameless(model));
  if (WIFSIGNALED(status))
    throw TokenizerError(fmt::format("this SentencePiece model is damaged: SentencePiece itself ends over it ({})",
                                     ::strsignal(WTERMSIG(status))));
  if (WEXITSTATUS(status) != 0)
    throw TokenizerError(
        fmt::format("this SentencePiece model is damaged, or {} belongs to another version of attnscope",
                    ATTNSCOPE_SENTENCEPIECE_TRIAL));
  tried.add(model);
}

}  // namespace attnscope
