#include "commands/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace attnscope {
namespace {

constexpr std::chrono::milliseconds redraw_interval{100};
constexpr int bar_width = 24;

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

}  // namespace

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1), begin_(Clock::now()) {}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::show(std::string_view what, double fraction, std::string_view detail) {
  if (!terminal_) return;
  const auto now = Clock::now();
  if (what != what_) {
    what_ = what;
    begin_ = now;
  } else if (now - last_ < redraw_interval) {
    return;
  }
  last_ = now;
  std::string line = what_;
  if (fraction >= 0) {
    const int filled = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * bar_width);
    const double elapsed = std::chrono::duration<double>(now - begin_).count();
    line += fmt::format(" [{:━<{}}{: <{}}] {:3.0f} %", "", filled, "", bar_width - filled, fraction * 100);
    if (fraction > 0) line += fmt::format(" · {} left", duration_text(elapsed * (1 - fraction) / fraction));
  }
  if (!detail.empty()) line += fmt::format(" · {}", detail);
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace attnscope
