#include "window/pacing.h"

#include <algorithm>

#include "common/clamped.h"

namespace attnscope {
namespace {

constexpr double at_once = 1. / 60;
constexpr double leisurely = 1. / 10;
constexpr double frames_between_news = 20;  // limits drawing of news to a twentieth of the time
constexpr double rarest_news = 0.5;
constexpr double blink = 0.4;
constexpr double tooltip_time = 1.2;  // seconds after the last input during which a tooltip may still appear
constexpr int idle_frames = 3;

}  // namespace

void Pacing::urge(double now) {
  urged_ = now;
  settling_frames_ = idle_frames;
}

void Pacing::drawn(double begin, double now, bool animating, bool text_cursor) {
  last_frame_ = now;
  frame_duration_ = now - begin;
  settling_frames_ = std::max(0, settling_frames_ - 1);
  news_ = false;
  animating_ = animating;
  text_cursor_ = text_cursor;
}

std::optional<double> Pacing::due() const {
  if (settling_frames_ > 0) return last_frame_ + at_once;
  if (animating_ || last_frame_ < urged_ + tooltip_time) return last_frame_ + leisurely;
  if (news_) return last_frame_ + clamped(frames_between_news * frame_duration_, leisurely, rarest_news);
  if (text_cursor_) return last_frame_ + blink;
  return std::nullopt;
}

}  // namespace attnscope
