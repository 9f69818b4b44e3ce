// The command palette (Ctrl+P): fuzzy search over everything that can be shown or done.
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

// State of the open palette that persists between frames.
struct Palette {
  bool asked = false;  // request: open it
  std::string typed;
  int chosen = 0;  // index into the matches
};

// Every action, workspace, view, setting, corpus, preset and glossary term.
std::vector<PaletteEntry> palette_entries(const AppState& scope);

// Entries that contain every typed word, ignoring case. Entries with a title word that starts with a typed word come
// first, then those with a match in the title, then the rest. Without a query, all entries in order.
std::vector<PaletteEntry> found_in(const std::vector<PaletteEntry>& entries, const std::string& typed);

void draw_palette(AppState& scope, const Skin& skin);

}  // namespace attnscope
