// Buttons in a row: their widths and their placement.
#pragma once

#include <string_view>

#include "base/skin.h"

namespace attnscope {

// Width of Dear ImGui's buttons and checkboxes; the part of a label after ## is not drawn.
float button_width(const char* label);
float checkbox_width(const char* label);

// Places the next item, of that width, next to the last one if it fits, otherwise on the next line.
void next_in_row(float width, float gap);

// ---- exclusive choices: the levels and modes inside a workspace

template <typename Value>
struct ChoiceText {
  Value value;
  const char* title;
  const char* help;
};
template <typename Value>  // clang before 17 does not deduce it
ChoiceText(Value, const char*, const char*)->ChoiceText<Value>;

// Draws one small button in the row, or on the next line if it does not fit; the next item goes next to it. Returns
// true if clicked.
bool draw_choice(const char* title, bool chosen, std::string_view help, const Skin& skin);

// A button in a row of choices, outlined because a filled one would look chosen. Returns true when pressed.
bool row_button(const char* title);

// Starts a new line if a small button with that title does not fit in the row.
void break_choices(const char* title);

// Ends the row.
void end_choices();

// ---- with a drawn icon before the label: fonts rarely have these glyphs

enum class Icon { play, pause, step, reset };

// Returns true when pressed.
bool icon_button(const char* label, Icon icon, Color32 icon_color, bool enabled, std::string_view help,
                 const Skin& skin);

}  // namespace attnscope
