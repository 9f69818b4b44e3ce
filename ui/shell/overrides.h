// The bar that lists how the model on display differs from the unmodified one, and the code that clears these
// overrides.
#pragma once

#include "base/skin.h"
#include "messages/overrides.h"
#include "shell/app_state.h"

namespace attnscope {

Overrides overrides_of(const AppState& scope);

void take_back(AppState& scope, const Override& override_text);

void back_to_plain_model(AppState& scope);

// Clears what depends on positions in the sentence or its output when it changes; and what depends only on the
// output's.
void let_go_of_places(AppState& scope);
void let_go_of_output(AppState& scope);

// The form of its last button's label.
enum class OverridesLabel { full, brief };

// Width of the bar in one line; 0 while the unmodified model is shown and there is no bar.
float overrides_width(const AppState& scope, OverridesLabel label, const Skin& skin);

// Draws the bar at the cursor, in as many lines as needed.
void draw_overrides(AppState& scope, OverridesLabel label, const Skin& skin);

}  // namespace attnscope
