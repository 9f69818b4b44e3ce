// When the window draws its next frame: at once for the user, seldom for the rest, never for nothing. Under software
// OpenGL every frame takes time from training, so news of it is drawn the more seldom the longer a frame takes.
#pragma once

#include <optional>

namespace attnscope {

// Times are in seconds on one steady clock.
class Pacing {
 public:
  // The user did something, or what the user waits for has come: a frame as soon as the screen can take one, and a few
  // more, because Dear ImGui needs them to settle and shows its tooltips after a delay.
  void urge(double now);

  // Something to be shown without hurry: a training step.
  void news() { news_ = true; }

  // A frame was drawn from `begin` to `now`, and asks for more: something moves by itself; a text cursor blinks.
  void drawn(double begin, double now, bool animating, bool text_cursor);

  // The user waits for the next frame.
  bool awaited() const { return settling_frames_ > 0; }

  // When the next frame is due; nothing while there is nothing to draw.
  std::optional<double> due() const;

 private:
  double last_frame_ = 0;
  double frame_duration_ = 0;
  double urged_ = -1e9;
  int settling_frames_ = 0;
  bool news_ = true;  // the first frame
  bool animating_ = false;
  bool text_cursor_ = false;
};

}  // namespace attnscope
