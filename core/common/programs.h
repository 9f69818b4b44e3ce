// Starts other programs, and this one again, as processes.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscope {

// Returns the environment of this process with the given variables added or replaced. Unlike arguments, other users'
// processes cannot read it.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables);

// An anonymous file, deleted with the last process that has it open.
class NamelessFile {
 public:
  // Contains the bytes, positioned at the first. Throws std::system_error if there is no memory for them.
  explicit NamelessFile(std::string_view bytes);
  ~NamelessFile();
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// Starts the program, searched in PATH unless it contains a slash, with the file as its input and its output discarded.
// Throws std::system_error if it cannot be started.
pid_t start_program(std::vector<std::string> arguments, const NamelessFile& input);

// Starts this program with the arguments, the first of which is its name. `mask`: signals blocked there, null: as here.
// `talk`: a descriptor used as input and output, if valid. Throws std::runtime_error if it cannot be started.
pid_t start_own_program(std::vector<std::string> arguments, std::vector<std::string> environment,
                        const sigset_t* mask = nullptr, int talk = -1);

// Waits for its end and returns its status as from waitpid. Throws std::system_error if it is not a child of this
// process.
int status_at_end(pid_t process);

// Detaches the process: it is reaped when it ends, and `ended`, on a thread of its own, gets its status.
void let_run(pid_t process, std::function<void(int status)> ended = {});

}  // namespace attnscope
