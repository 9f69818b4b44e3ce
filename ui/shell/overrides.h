// The bar of all in which what is shown is not the plain model, and the one place that takes it back.
#pragma once

#include "base/skin.h"
#include "plain/overrides.h"
#include "shell/app_state.h"

namespace attnscope {

Overrides overrides_of(const AppState& scope);

void take_back(AppState& scope, const Override& override_text);

void back_to_plain_model(AppState& scope);

// What was chosen by places in the sentence or its output, when it is another one; and by places in its output alone.
void let_go_of_places(AppState& scope);
void let_go_of_output(AppState& scope);

// How its last button is labelled.
enum class OverridesLabel { full, brief };

// The bar's, in one line; 0 while the plain model is shown, and there is no bar.
float overrides_width(const AppState& scope, OverridesLabel label, const Skin& skin);

// At the cursor, in as many lines as it needs.
void draw_overrides(AppState& scope, OverridesLabel label, const Skin& skin);

}  // namespace attnscope
