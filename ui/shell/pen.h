// A pen for presenters: lines over everything, until they are wiped.
#pragma once

#include <imgui.h>

#include <vector>

#include "base/skin.h"

namespace attnscope {

struct AppState;

struct Pen {
  bool held = false;                       // the mouse draws and does not reach anything below
  std::vector<std::vector<ImVec2>> lines;  // each point as a fraction of the window's width and height
};

void toggle_pen(AppState& scope);

// Erases all lines and puts the pen away.
void wipe(AppState& scope);

// Draws the lines over everything else in the frame, and handles the mouse while the pen is held.
void draw_pen(AppState& scope, const Skin& skin);

}  // namespace attnscope
