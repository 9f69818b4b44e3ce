// The targets of the mouse, of the keyboard focus and of the selection. Widgets report them while they are drawn; the
// context menu (right button or its key) and F1 query them.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>

namespace attnscope {

enum class HoverTarget { label, map, head, plot, token };

struct Pointed {
  HoverTarget thing = HoverTarget::label;
  std::string name = {};   // "it → animal", a plot's title, a token
  std::string value = {};  // copied by "copy"; empty: nothing to copy
  std::string about = {};  // a label that term_of() knows; empty: none
  std::string help = {};   // its tooltip
  ImVec2 place = {};       // screen position of its context menu, if the target is not under the mouse
};

void point_at(Pointed pointed);

// For widgets that use the right button themselves.
void point_at_nothing();

// The target of this frame or of the previous one; the last report in a frame wins.
std::optional<Pointed> hovered_target();

// The label that has keyboard focus; same rules as for the mouse.
void focus_on(Pointed pointed);
std::optional<Pointed> focused_target();

// The map cell selected with the arrow keys.
void choose_target(Pointed pointed);
std::optional<Pointed> chosen_target();

}  // namespace attnscope
