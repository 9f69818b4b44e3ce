// Queues keys, characters and mouse buttons in order for Dear ImGui before 1.87, which only sees the state at the start
// of a frame. Without it, a key pressed and released between two slow frames would be lost, text typed after Ctrl+A
// would precede it, and a click would overtake earlier letters, so that the rest of them would act as shortcuts.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <vector>

namespace attnscope {

// Shortcuts, and the keys that leave a field, move the keyboard focus one or two frames later.
inline constexpr int frames_to_settle = 3;

class InputQueue {
 public:
  // With GLFW's values.
  struct Key {
    int key = 0;
    int scancode = 0;
    int action = 0;
    int mods = 0;
  };
  struct Button {
    int button = 0;
    bool down = false;
    double x = 0;  // position of the event
    double y = 0;
  };
  struct Event {  // exactly one is set
    std::optional<Key> key = {};
    std::optional<Button> button = {};
    unsigned character = 0;
  };

  // The input of one frame. Dear ImGui processes characters before keys.
  struct Frame {
    std::vector<Key> keys;
    std::vector<unsigned> characters;
    std::optional<Button> button;
  };

  void push(const Event& event) { events_.push_back(event); }
  bool empty() const { return events_.empty(); }

  // The input of the frame that begins now. `typing`: a text field has the keyboard focus; unreliable while the focus
  // moves. All letters typed into it are delivered together, without their key events; anything that may move the focus
  // ends the frame.
  Frame take(bool typing);

 private:
  bool takes(const Frame& frame, const Event& event, bool typing) const;
  void take(Frame& frame, const Event& event, bool typing);

  std::deque<Event> events_;
  std::set<int> down_;  // keys that are down for Dear ImGui
  int settling_ = 0;    // frames until the focus has moved as a key requested
};

}  // namespace attnscope
