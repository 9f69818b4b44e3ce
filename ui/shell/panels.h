// The parts of the window from top to bottom, and what opens over it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/skin.h"
#include "base/textures.h"
#include "shell/app_state.h"

namespace attnscope {

// The first line of the window: menu, training buttons, status of the run.
void draw_menu_bar(AppState& scope, const Skin& skin);

// "step 1 240 · loss 1.83 · 9.1k tok/s · CPU"
std::string status_line(const AppState& scope);

// Draws the training state and the loss curve at the right end of the current line. Used on a projector, where menu and
// curves are hidden. Ends the line.
void draw_training_sign(const AppState& scope, const Skin& skin);

// ---- the left column: every field of the configuration, from the table in config/config.h

// Fills the rest of the window.
void draw_setup(AppState& scope, const Skin& skin);

// Opens the column at that field of the configuration in the next frame.
void show_field(AppState& scope, std::string_view key);

// Errors in the configuration, keyed by the field that shows them; empty if valid.
std::map<std::string_view, std::string> field_complaints(const Config& config);

// Number of fields of `edited` that are pending until Reset.
int waiting_fields(const Config& running, const Config& edited);

// ---- below the workspace, at the cursor, as wide as the window

// The bar for navigating the recorded frames of a pinned sentence; draws nothing if none is pinned.
void draw_timeline(AppState& scope, const Skin& skin);
float timeline_height(const AppState& scope);

// The current sentence and the model's output for it.
void draw_sentence_bar(AppState& scope, const Skin& skin);
float sentence_bar_height(const Skin& skin);

// ---- over the window

// The file browser, the question after dropping a file, the list of shortcuts.
void draw_dialogs(AppState& scope, const Skin& skin);

inline constexpr float toast_width = 380;
inline constexpr double info_seconds = 6;
inline constexpr double warning_seconds = 12;

// Draws messages and progress in a window whose lower right corner is at `corner`; drops expired messages.
void draw_toasts(AppState& scope, ImVec2 corner, const Skin& skin);

// ---- everything: menu, toolbar, setup, workspaces, curves, sentence bar, messages

// Draws one frame, between ImGui::NewFrame and ImGui::Render. The user's input is in `scope` afterwards.
void draw_shell(AppState& scope, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
