// The words of the window in plain language: a list with a search field, each with its formula, its source and the
// place where the window shows it.
#pragma once

#include <string>
#include <string_view>

#include "base/skin.h"
#include "base/terms.h"

namespace attnscope {

struct AppState;

struct GlossaryView {
  bool open = false;
  std::string typed;
  int chosen = 0;        // among glossary()
  bool scrolls = false;  // brings the chosen one into sight
};

// Opens it at that term, which there must be.
void open_glossary(AppState& scope, std::string_view name);

void draw_glossary(AppState& scope, const Skin& skin);

}  // namespace attnscope
