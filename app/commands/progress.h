#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace attnscope {

// Shows progress and remaining time on stderr. On a terminal, one line of its width is redrawn at most ten times a
// second; elsewhere, as in a log, lines appear after five seconds, ten, and so on, doubling each time. Nothing with
// --quiet.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `fraction` in 0…1 of the work since construction or the last change of `what`; below 0: unknown.
  void show(std::string_view what, double fraction, std::string_view detail = {});
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool due(std::string_view what);
  std::string text(double fraction, std::string_view detail) const;

  bool terminal_;
  bool shown_ = false;
  std::string what_;
  Clock::time_point begin_;
  Clock::time_point due_;
  Clock::duration pause_{};  // time until the line after the next, if not on a terminal
};

// The longest prefix of the text that fits in `columns`, at one column per character.
std::string_view cut_to_columns(std::string_view text, int columns);

}  // namespace attnscope
