#include "compute/input_lines.h"

#include <poll.h>
#include <unistd.h>

#include <iostream>

#include "commands/say.h"
#include "common/utf8.h"

namespace attnscope {

bool next_line(std::string& line, std::int64_t number) {
  line.clear();
  int c = std::cin.get();
  if (c == EOF) return false;
  for (; c != EOF && c != '\n'; c = std::cin.get()) {
    if (line.size() <= longest_line) line += static_cast<char>(c);
  }
  if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

bool has_next_line() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  return std::cin.rdbuf()->in_avail() != 0 || ::poll(&input, 1, 0) != 0;
}

bool is_usable(const std::string& line, std::int64_t number) {
  if (line.size() > longest_line) {
    say("line {}: longer than {} bytes, left empty", number, longest_line);
    return false;
  }
  const auto fault = utf8_fault(line);
  if (fault) say("line {}: byte {} is not UTF-8, left empty", number, *fault + 1);
  return !fault;
}

}  // namespace attnscope
