#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace attnscope {

// Says on stderr how far long work has come and how long it will still take: one line redrawn in place on a terminal,
// as wide as that and at most ten times a second; elsewhere, as in a log, a line after five seconds, after ten, and so
// on, each time twice as long. Nothing at all with --quiet.
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

  bool due(std::string_view what);
  std::string text(double fraction, std::string_view detail) const;

  bool terminal_;
  bool shown_ = false;
  std::string what_;
  Clock::time_point begin_;
  Clock::time_point due_;
  Clock::duration pause_{};  // until the line after the next, away from a terminal
};

// As many characters of the text as fit into so many columns, each taken to be one wide.
std::string_view cut_to_columns(std::string_view text, int columns);

}  // namespace attnscope
