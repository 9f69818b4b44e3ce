// A pen for whoever shows the window to others: lines over everything, until they are wiped.
#pragma once

#include <imgui.h>

#include <vector>

#include "base/skin.h"

namespace attnscope {

struct AppState;

struct Pen {
  bool held = false;                       // the mouse draws, and reaches nothing beneath
  std::vector<std::vector<ImVec2>> lines;  // each point a share of the window's width and height
};

void toggle_pen(AppState& scope);

// Lays the pen down too.
void wipe(AppState& scope);

// Over all else that is drawn in the frame; while it is held, what it does.
void draw_pen(AppState& scope, const Skin& skin);

}  // namespace attnscope
