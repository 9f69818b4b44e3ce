// What the mouse is over, the keyboard at, and what is chosen: widgets say it while they are drawn; the right button,
// its key and F1 ask for it.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>

namespace attnscope {

enum class HoverTarget { label, map, head, plot, token };

struct Pointed {
  HoverTarget thing = HoverTarget::label;
  std::string name = {};   // "it → animal", a plot's title, a piece
  std::string value = {};  // to be copied; empty: none
  std::string about = {};  // a label that term_of() knows; empty: none
  std::string help = {};   // its tooltip
  ImVec2 place = {};       // of what is not under the mouse: where on the screen a menu about it opens
};

void point_at(Pointed pointed);

// For what has a use of its own for the right button.
void point_at_nothing();

// In this frame or the one before; the last that was said counts.
std::optional<Pointed> hovered_target();

// The label that the keyboard is at, in the same way.
void focus_on(Pointed pointed);
std::optional<Pointed> focused_target();

// What the arrow keys have chosen: the cell of a map.
void choose_target(Pointed pointed);
std::optional<Pointed> chosen_target();

}  // namespace attnscope
