// Keys, letters and mouse buttons in the order in which they came, on their way to a Dear ImGui that has no such queue
// (before 1.87): it sees only how things stand when a frame begins. A key pressed and released between two slow frames
// would be lost to it, what is typed after Ctrl+A would come before it, and a click would overtake the letters typed
// before it, the rest of which would then be commands.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <vector>

namespace attnscope {

class InputQueue {
 public:
  // As GLFW tells them.
  struct Key {
    int key = 0;
    int scancode = 0;
    int action = 0;
    int mods = 0;
  };
  struct Button {
    int button = 0;
    bool down = false;
    double x = 0;  // where it happened
    double y = 0;
  };
  struct Event {  // one of them
    std::optional<Key> key = {};
    std::optional<Button> button = {};
    unsigned character = 0;
  };

  // What one frame is given. Dear ImGui takes the characters before the keys.
  struct Frame {
    std::vector<Key> keys;
    std::vector<unsigned> characters;
    std::optional<Button> button;
  };

  void push(const Event& event) { events_.push_back(event); }
  bool empty() const { return events_.empty(); }

  // For the frame that begins now. `typing`: a text field has the keyboard. All letters that go into it come at once,
  // without the keys that made them; whatever may move the keyboard elsewhere ends the frame.
  Frame take(bool typing);

 private:
  bool takes(const Frame& frame, const Event& event, bool typing) const;
  void take(Frame& frame, const Event& event, bool typing);

  std::deque<Event> events_;
  std::set<int> down_;  // keys of which Dear ImGui knows
  int settling_ = 0;    // frames until the keyboard is where a key has sent it
};

}  // namespace attnscope
