// Commands that wait for the end of the present step, oldest first.
#pragma once

#include <deque>

#include "messages/messages.h"

namespace attnscope {

template <typename... Kinds>
bool is_one_of(const Command& command) {
  return (std::holds_alternative<Kinds>(command) || ...);
}

// Returns true if the command replaces a run, or ends a comparison.
bool replaces_a_run(const Command& command);

class WaitingCommands {
 public:
  // Of several Adjust in a row only the newest waits; one with another command in between stays in place.
  void add(Command command);
  Command take_next();

  bool empty() const { return waiting_.empty(); }
  bool replace_a_run() const;

  void drop_training();      // Train, Step
  bool drop_replacements();  // returns true if there was a run to be created or opened

 private:
  std::deque<Command> waiting_;
};

}  // namespace attnscope
