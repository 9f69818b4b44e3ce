// The glossary dialog: a searchable list of terms, each with its explanation, formula, source and the place where the
// window shows it.
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
  int chosen = 0;        // index into glossary()
  bool scrolls = false;  // request: scroll to the selected term
};

// Opens the glossary at that term, which must exist.
void open_glossary(AppState& scope, std::string_view name);

void draw_glossary(AppState& scope, const Skin& skin);

}  // namespace attnscope
