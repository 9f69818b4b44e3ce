#include "window/pacing.h"

#include <algorithm>
#include <utility>

#include "common/clamped.h"

namespace attnscope {
namespace {

constexpr double at_once = 1. / 60;
constexpr double leisurely = 1. / 10;
constexpr double frames_between_news = 25;  // limits drawing of news to a twenty-fifth of the time
constexpr double rarest_news = 0.75;
constexpr double blink = 0.4;
constexpr double tooltip_time = 1.2;  // seconds after the last input during which a tooltip may still appear
constexpr int idle_frames = 3;
constexpr double longest_answer = 0.01;

}  // namespace

// The first input is answered at once; while it continues, as the mouse moves, training gets time between two frames.
void Pacing::urge(double now) {
  urged_ = now;
  if (settling_frames_ == 0 || due_at_) due_at_ = now;
  settling_frames_ = idle_frames;
}

void Pacing::answered(double now) {
  urge(now);
  due_at_ = now;
}

bool Pacing::waits_for_answer(double now) {
  if (!news_ || std::exchange(waited_, true)) return false;
  due_at_ = now + longest_answer;
  return true;
}

void Pacing::drawn(double begin, double now, bool animating, bool text_cursor) {
  last_frame_ = now;
  frame_duration_ = now - begin;
  due_at_.reset();
  waited_ = false;
  settling_frames_ = std::max(0, settling_frames_ - 1);
  news_ = false;
  animating_ = animating;
  text_cursor_ = text_cursor;
}

std::optional<double> Pacing::due() const {
  if (due_at_) return *due_at_;
  if (settling_frames_ > 0) return last_frame_ + at_once;
  if (animating_ || last_frame_ < urged_ + tooltip_time) return last_frame_ + leisurely;
  if (news_) return last_frame_ + clamped(frames_between_news * frame_duration_, leisurely, rarest_news);
  if (text_cursor_) return last_frame_ + blink;
  return std::nullopt;
}

}  // namespace attnscope
