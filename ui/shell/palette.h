// Ctrl+P: everything that can be seen or done, found by typing a few letters of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/skin.h"

namespace attnscope {

struct AppState;

struct PaletteEntry {
  std::string title;
  std::string where;  // "Edit", "Attention", "Setup: model"
  std::string help;
  std::string key;  // "Ctrl+Z"; empty: none
  bool applies = true;
  std::function<void(AppState&)> act;
};

// What the open palette remembers from frame to frame.
struct Palette {
  bool asked = false;  // to be opened
  std::string typed;
  int chosen = 0;  // which of those found
};

// Every action, workspace and view, setting, corpus, preset and term of the glossary.
std::vector<PaletteEntry> palette_entries(const AppState& scope);

// Those that have every word typed, whatever its case: where a word of the title begins with it first, then those whose
// title has it, then the rest. Nothing typed: all, in their order.
std::vector<PaletteEntry> found_in(const std::vector<PaletteEntry>& entries, const std::string& typed);

void draw_palette(AppState& scope, const Skin& skin);

}  // namespace attnscope
