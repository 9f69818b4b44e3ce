#include "window/pacing.h"

#include <algorithm>

namespace attnscope {
namespace {

constexpr double at_once = 1. / 60;
constexpr double leisurely = 1. / 10;
constexpr double blink = 0.4;
constexpr double tooltip_time = 1.2;  // after the last input, until which a tooltip may still appear
constexpr int frames_to_settle = 3;

}  // namespace

void Pacing::urge(double now) {
  urged_ = now;
  settling_frames_ = frames_to_settle;
}

void Pacing::drawn(double now, bool animating, bool text_cursor) {
  last_frame_ = now;
  settling_frames_ = std::max(0, settling_frames_ - 1);
  news_ = false;
  animating_ = animating;
  text_cursor_ = text_cursor;
}

std::optional<double> Pacing::due() const {
  if (settling_frames_ > 0) return last_frame_ + at_once;
  if (news_ || animating_ || last_frame_ < urged_ + tooltip_time) return last_frame_ + leisurely;
  if (text_cursor_) return last_frame_ + blink;
  return std::nullopt;
}

}  // namespace attnscope
