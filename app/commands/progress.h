#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace attnscope {

// One line on stderr that says how far long work has come and how long it will still take: redrawn in place on a
// terminal, at most ten times a second; nothing at all in a pipe.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `fraction` in 0…1 of the work begun at construction or at the last change of `what`; below 0: not known.
  void show(std::string_view what, double fraction, std::string_view detail = {});
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  bool shown_ = false;
  std::string what_;
  Clock::time_point begin_;
  Clock::time_point last_{};
};

}  // namespace attnscope
