// Other programs, and this one once more, as processes.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscope {

// What this process has in its environment, with those variables in place of its own of the same name. There, and not
// among the arguments, the processes of others cannot read them.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables);

// A file that has no name, and is gone with the last process that has it open.
class NamelessFile {
 public:
  // Holds the bytes, to be read from the first one on. Throws std::system_error if there is no memory for them.
  explicit NamelessFile(std::string_view bytes);
  ~NamelessFile();
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// Starts the program, looked for in PATH unless there is a slash in it, with that file as its input and its output
// thrown away. Throws std::system_error if it cannot be started.
pid_t start_program(std::vector<std::string> arguments, const NamelessFile& input);

// Starts this one with those arguments, the first of which is its name; `mask` is of the signals that are blocked
// there, null: as here; `talk`, if it is one, a descriptor that is its input and its output. Throws std::runtime_error
// if it cannot be started.
pid_t start_own_program(std::vector<std::string> arguments, std::vector<std::string> environment,
                        const sigset_t* mask = nullptr, int talk = -1);

// Its status, as waitpid has it, once it has ended. Throws std::system_error if it is no child of this process.
int status_at_end(pid_t process);

// Lets it run for as long as it likes: only that nothing is left of it when it has ended.
void let_run(pid_t process);

}  // namespace attnscope
