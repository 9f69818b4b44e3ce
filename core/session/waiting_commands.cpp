#include "session/waiting_commands.h"

#include <algorithm>
#include <utility>

namespace attnscope {

bool replaces_a_run(const Command& command) {
  return is_one_of<Reset, OpenRun, GoToBest, Compare, EndComparison>(command);
}

void WaitingCommands::add(Command command) {
  if (is_one_of<Adjust>(command) && !waiting_.empty() && is_one_of<Adjust>(waiting_.back())) waiting_.pop_back();
  waiting_.push_back(std::move(command));
}

Command WaitingCommands::take_next() {
  Command next = std::move(waiting_.front());
  waiting_.pop_front();
  return next;
}

bool WaitingCommands::replace_a_run() const {
  return std::ranges::any_of(waiting_, replaces_a_run);
}

void WaitingCommands::drop_training() {
  std::erase_if(waiting_, is_one_of<Train, Step>);
}

bool WaitingCommands::drop_replacements() {
  return std::erase_if(waiting_, is_one_of<Reset, OpenRun, GoToBest, Compare>) > 0;
}

}  // namespace attnscope
