// The window on a capture (files/captures/capture.h), and saving what is shown as one.
#pragma once

#include <string>

#include "shell/app_state.h"

namespace attnscope {

bool shows_capture(const AppState& scope);

// False for a capture without losses, whose column of curves would be empty.
bool has_curves(const AppState& scope);

// Shows a sentence of the capture, and a workspace and view that it can fill.
void settle_capture(AppState& scope);

// The reason why a view is absent, in one sentence; null: it is not.
const char* absence(const AppState& scope, const Workspace& workspace);
const char* absence(const AppState& scope, const WorkspaceView& view);

// In place of the setup: what the capture contains, and what is known about the sentence.
void draw_capture_facts(const AppState& scope, const Skin& skin);

// ---- saving

bool can_save_capture(const AppState& scope);
std::string capture_name(const AppState& scope);
// The sentence with its recorded steps and the present one.
void save_capture(AppState& scope, const std::string& path, bool replace);
// An interactive page of the sentence and the other pinned ones, with the circuit if one was computed.
void save_page(AppState& scope, const std::string& path, bool replace);

}  // namespace attnscope
