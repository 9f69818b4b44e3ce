// Decides when the window draws its next frame: immediately for the user, rarely for other news, never without reason.
// With software OpenGL every frame takes time from training, so news is drawn less often the longer a frame takes.
#pragma once

#include <optional>

namespace attnscope {

// Times are in seconds of one steady clock.
class Pacing {
 public:
  // After user input: draws as soon as possible, plus a few frames, because Dear ImGui needs them to settle and shows
  // tooltips with a delay.
  void urge(double now);

  // When a result arrives for which the user waits: draws at once, however short ago the last frame was.
  void answered(double now);

  // Non-urgent changes: a training step.
  void news() { news_ = true; }

  // For a frame that is laid out and whose input asked the worker for something, which usually answers within
  // milliseconds. True if there was other news as well, whose drawing would delay the answer: the frame is better left
  // undrawn, and the next one is due when the answer arrives, at the latest a hundredth of a second from now.
  bool waits_for_answer(double now);

  // A frame was drawn from `begin` to `now`, and may need more frames: an animation, or a blinking text cursor.
  void drawn(double begin, double now, bool animating, bool text_cursor);

  // True if the user is waiting for the next frame.
  bool awaited() const { return settling_frames_ > 0; }

  // The time of the next frame; empty if there is nothing to draw.
  std::optional<double> due() const;

 private:
  double last_frame_ = 0;
  double frame_duration_ = 0;
  double urged_ = -1e9;
  int settling_frames_ = 0;
  std::optional<double> due_at_;  // the next frame, before any other reason
  bool waited_ = false;           // for an answer, since the last frame
  bool news_ = true;              // the first frame
  bool animating_ = false;
  bool text_cursor_ = false;
};

}  // namespace attnscope
