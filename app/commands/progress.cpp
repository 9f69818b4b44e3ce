#include "commands/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "commands/say.h"
#include "common/clamped.h"

namespace attnscope {
namespace {

constexpr std::chrono::milliseconds redraw_interval{100};
constexpr std::chrono::seconds first_pause{5};
constexpr int bar_width = 24;

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

std::string bar(double fraction) {
  const int filled = static_cast<int>(clamped(fraction, 0.0, 1.0) * bar_width);
  return fmt::format(" [{:━<{}}{: <{}}]", "", filled, "", bar_width - filled);
}

// The width of stderr's terminal.
int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string_view cut_to_columns(std::string_view text, int columns) {
  std::size_t end = 0;
  while (end < text.size() && columns > 0) {
    do ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
    --columns;
  }
  return text.substr(0, end);
}

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1), begin_(Clock::now()) {}

ProgressLine::~ProgressLine() {
  clear();
}

bool ProgressLine::due(std::string_view what) {
  const auto now = Clock::now();
  if (what != what_) {
    what_ = what;
    begin_ = now;
    pause_ = first_pause;
    due_ = terminal_ ? now : now + pause_;
  }
  if (now < due_) return false;
  pause_ *= 2;
  due_ = terminal_ ? now + redraw_interval : begin_ + pause_;
  return true;
}

std::string ProgressLine::text(double fraction, std::string_view detail) const {
  std::string line = what_;
  if (fraction >= 0) {
    if (terminal_) line += bar(fraction);
    const double elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
    line += fmt::format(" {:3.0f} %", fraction * 100);
    if (fraction > 0) line += fmt::format(" · {} left", duration_text(elapsed * (1 - fraction) / fraction));
  }
  if (!detail.empty()) line += fmt::format(" · {}", detail);
  return line;
}

void ProgressLine::show(std::string_view what, double fraction, std::string_view detail) {
  if (quiet || !due(what)) return;
  const std::string line = text(fraction, detail);
  if (!terminal_) return say("{}", line);
  std::fprintf(stderr, "\r\033[K%s", std::string(cut_to_columns(line, terminal_columns() - 1)).c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace attnscope
