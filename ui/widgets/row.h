// Buttons in a row: how wide they are, and where the next one stands.
#pragma once

#include <string_view>

#include "base/skin.h"

namespace attnscope {

// What Dear ImGui's buttons and checkboxes take up; what follows ## in a label is not drawn.
float button_width(const char* label);
float checkbox_width(const char* label);

// Puts the next item, of that width, beside the last one if there is room, else in the next line.
void next_in_row(float width, float gap);

// ---- of which one is chosen: the levels and modes inside a workspace

template <typename Value>
struct ChoiceText {
  Value value;
  const char* title;
  const char* help;
};
template <typename Value>  // which clang before 17 does not deduce by itself
ChoiceText(Value, const char*, const char*)->ChoiceText<Value>;

// One small button, in the row or in its next line where there is no room; the next one stands beside it. True when
// clicked.
bool draw_choice(const char* title, bool chosen, std::string_view help, const Skin& skin);

// Goes on in the next line if a small button with that title has no room in the row.
void break_choices(const char* title);

// Ends the row.
void end_choices();

// ---- with a drawn icon before the label: fonts rarely have these signs

enum class Icon { play, pause, step, reset };

// True when pressed.
bool icon_button(const char* label, Icon icon, Color32 icon_color, bool enabled, std::string_view help,
                 const Skin& skin);

}  // namespace attnscope
