// Keyboard input. All code that depends on the Dear ImGui release's keyboard API is here.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

namespace attnscope {

enum class Key {
  // Same order as the table in input.cpp.
  tab,
  left,
  right,
  up,
  down,
  page_up,
  page_down,
  home,
  end,
  insert,
  del,
  backspace,
  space,
  enter,
  escape,
  keypad_enter,
  a,
  c,
  v,
  x,
  y,
  z,
  o,
  s,
  q,
  t,
  e,
  p,
  d,
  digit_0,
  digit_1,
  digit_2,
  digit_3,
  digit_4,
  digit_5,
  digit_6,
  plus,
  minus,
  f1,
  f6,
  f10,
  f11,
  count
};

// Gives the keyboard to the item that follows. ImGui::SetKeyboardFocusHere() alone does nothing in Dear ImGui 1.90
// while another window has the focus.
void focus_next_item();

// At the beginning of a frame. Enter activates the item that has the keyboard, as Space does: before Dear ImGui 1.89 it
// did so only in text fields. In a menu or dialog, the first arrow key shows which item has the keyboard, and does not
// leave it.
void settle_menu_keys();

struct Modifiers {
  bool ctrl = false;
  bool shift = false;
  bool alt = false;
};
Modifiers modifiers();

// True if the key went down in this frame (or repeats, if asked), with any modifiers.
bool key_pressed(Key key, bool repeat = false);

// A key with its modifiers.
struct Chord {
  Key key;
  bool ctrl = false;
  bool shift = false;
  bool repeats = false;  // also fires while the key is held
};

// True if the key went down with exactly these modifiers.
bool pressed(const Chord& chord);

// "Ctrl+Shift+S", "→".
std::string chord_text(const Chord& chord);

// While this object exists, a double click in a text field selects a word. Dear ImGui before 1.88 selects all the text,
// except on a Mac.
class WordSelection {
 public:
  WordSelection();
  ~WordSelection();
  WordSelection(const WordSelection&) = delete;
  WordSelection& operator=(const WordSelection&) = delete;

 private:
  bool before_;
};

// ---- keyboard navigation (F6): arrows move from control to control, Space presses one

bool moves_through_controls();
void move_through_controls(bool on);

// ImGuiWindowFlags of a child window: while moving through the controls, arrows cross its border.
int column_flags();

// Ends typing and the navigation that keys began in this frame, so that they do nothing else.
void keep_keys_from_controls();

// The same of a view, whose keys are its own otherwise.
int view_flags();

// ---- for contexts without a windowing backend: tests

// Call once, after the context is created.
void prepare_input(ImGuiIO& io);
void feed_key(ImGuiIO& io, Key key, bool down);
void feed_modifiers(ImGuiIO& io, Modifiers held);
void feed_mouse(ImGuiIO& io, ImVec2 position);
void feed_button(ImGuiIO& io, int button, bool down);
void feed_wheel(ImGuiIO& io, float lines);
void feed_text(ImGuiIO& io, std::string_view text);

}  // namespace attnscope
