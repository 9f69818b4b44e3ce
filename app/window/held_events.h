// Dear ImGui 1.87 and later queue events themselves, but give the letters after Ctrl+S to the frame in which no text
// field has the keyboard yet, and take Ctrl+S for S if Ctrl is released before the frame. So a key that moves the
// keyboard focus ends its frame's input, and what follows waits until the focus is there. For earlier versions
// InputQueue does so, and this does nothing.
#pragma once

#include <memory>

namespace attnscope {

class HeldEvents {
 public:
  HeldEvents();  // for the current Dear ImGui context
  ~HeldEvents();
  HeldEvents(const HeldEvents&) = delete;
  HeldEvents& operator=(const HeldEvents&) = delete;

  bool empty() const;  // false: events wait for the next frame

 private:
  struct Queue;
  std::unique_ptr<Queue> queue_;
};

}  // namespace attnscope
