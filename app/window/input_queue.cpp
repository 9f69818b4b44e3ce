#include "window/input_queue.h"

#include <algorithm>
#include <array>

namespace attnscope {
namespace {

// GLFW's constants.
constexpr int release = 0;
constexpr int control_alt_super = 2 | 4 | 8;
constexpr std::array keys_that_leave = {256, 257, 258, 335};  // Escape, Enter, Tab, keypad Enter

// True for keys that only enter a character in a text field.
bool is_letter(const InputQueue::Key& key) {
  const bool printable = (key.key >= 32 && key.key <= 162) || (key.key >= 320 && key.key <= 334);
  return printable && (key.mods & control_alt_super) == 0;
}

bool is_modifier(int key) {
  return key >= 340 && key <= 347;
}

bool moves_keyboard(const InputQueue::Key& key) {
  return key.action != release && !is_modifier(key.key) &&
         (std::ranges::find(keys_that_leave, key.key) != keys_that_leave.end() || (key.mods & control_alt_super) != 0);
}

bool pressed_in(const InputQueue::Frame& frame) {
  return std::ranges::any_of(frame.keys,
                             [](const InputQueue::Key& key) { return key.action != release && !is_modifier(key.key); });
}

bool released_in(const InputQueue::Frame& frame, int key) {
  return std::ranges::any_of(frame.keys,
                             [&](const InputQueue::Key& it) { return it.action == release && it.key == key; });
}

}  // namespace

InputQueue::Frame InputQueue::take(bool typing) {
  Frame frame;
  if (settling_ > 0) --settling_;
  while (!events_.empty() && takes(frame, events_.front(), typing)) {
    take(frame, events_.front(), typing);
    events_.pop_front();
  }
  return frame;
}

bool InputQueue::takes(const Frame& frame, const Event& event, bool typing) const {
  if (frame.button) return false;
  if (event.button) return frame.keys.empty() && frame.characters.empty() && settling_ == 0;
  // A release in the same frame as its press would cancel it.
  if (event.key && event.key->action == release) return !pressed_in(frame) || !down_.contains(event.key->key);
  if (settling_ > 0) return false;
  if (typing && event.key && is_letter(*event.key)) return true;  // its character event suffices
  if (typing) return !pressed_in(frame);                          // characters typed after a key must follow it
  return !event.key || !released_in(frame, event.key->key);
}

void InputQueue::take(Frame& frame, const Event& event, bool typing) {
  if (event.button) frame.button = event.button;
  if (event.character != 0) frame.characters.push_back(event.character);
  if (!event.key) return;
  const Key& key = *event.key;
  if (key.action == release) {
    if (down_.erase(key.key) > 0) frame.keys.push_back(key);
    return;
  }
  if (typing && is_letter(key)) return;
  down_.insert(key.key);
  frame.keys.push_back(key);
  if (moves_keyboard(key)) settling_ = frames_to_settle;
}

}  // namespace attnscope
