// What the window is made of, from top to bottom, and what opens over it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/skin.h"
#include "base/textures.h"
#include "shell/app_state.h"

namespace attnscope {

// The first line of the window: menu, training buttons, where the run stands.
void draw_menu_bar(AppState& scope, const Skin& skin);

// "step 1 240 · loss 1.83 · 9.1k tok/s · CPU"
std::string status_line(const AppState& scope);

// At the right end of the present line, on a projector, where there is no menu and there are no curves: that it trains,
// and how its loss went. Ends the line.
void draw_training_sign(const AppState& scope, const Skin& skin);

// ---- the left column: every field of the configuration, made from the table in plain/config.h

// Fills what is left of the window.
void draw_setup(AppState& scope, const Skin& skin);

// Opens the column at that field of the configuration, in the next frame.
void show_field(AppState& scope, std::string_view key);

// What is wrong, by the field it is shown at; empty when nothing is.
std::map<std::string_view, std::string> field_complaints(const Config& config);

// How many fields of `edited` wait for Reset.
int waiting_fields(const Config& running, const Config& edited);

// ---- beneath the workspace, at the cursor, as wide as the window

// The bar that goes through what was recorded of a pinned sentence; nothing while none is pinned.
void draw_timeline(AppState& scope, const Skin& skin);
float timeline_height(const AppState& scope);

// The sentence everything is about, and what the model makes of it.
void draw_sentence_bar(AppState& scope, const Skin& skin);
float sentence_bar_height(const Skin& skin);

// ---- over the window

// The file browser, the question after a dropped file, the keys.
void draw_dialogs(AppState& scope, const Skin& skin);

inline constexpr double info_seconds = 6;
inline constexpr double warning_seconds = 12;

// Messages and long work, in a window of its own whose lower right corner is at `corner`; drops what has been shown
// long enough.
void draw_toasts(AppState& scope, ImVec2 corner, const Skin& skin);

// ---- all of them: menu, toolbar, setup, workspaces, curves, sentence bar, messages

// One frame, between ImGui::NewFrame and ImGui::Render. What the user did is in `scope` afterwards.
void draw_shell(AppState& scope, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
