// The one place that knows how Dear ImGui's keyboard changed from release to release.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

namespace attnscope {

enum class Key {
  // In the order of the table in input.cpp.
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
  f10,
  f11,
  count
};

struct Modifiers {
  bool ctrl = false;
  bool shift = false;
  bool alt = false;
};
Modifiers modifiers();

// Went down in this frame (or repeats, if asked), whatever the modifiers.
bool key_pressed(Key key, bool repeat = false);

// A key with what is held down with it.
struct Chord {
  Key key;
  bool ctrl = false;
  bool shift = false;
  bool repeats = false;  // while it stays down
};

// Went down with just these modifiers.
bool pressed(const Chord& chord);

// "Ctrl+Shift+S", "→".
std::string chord_text(const Chord& chord);

// While it stands, a double click in a text field selects a word. Dear ImGui before 1.88 selects all, but on a Mac.
class WordSelection {
 public:
  WordSelection();
  ~WordSelection();
  WordSelection(const WordSelection&) = delete;
  WordSelection& operator=(const WordSelection&) = delete;

 private:
  bool before_;
};

// ---- for surfaces without a windowing backend: tests

// Once, after the context is made.
void prepare_input(ImGuiIO& io);
void feed_key(ImGuiIO& io, Key key, bool down);
void feed_modifiers(ImGuiIO& io, Modifiers held);
void feed_mouse(ImGuiIO& io, ImVec2 position);
void feed_button(ImGuiIO& io, int button, bool down);
void feed_wheel(ImGuiIO& io, float lines);
void feed_text(ImGuiIO& io, std::string_view text);

}  // namespace attnscope
