// The words of the window in plain language: a list with a search field, each with its formula, its source and the
// place where the window shows it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/skin.h"

namespace attnscope {

struct Scope;

struct Term {
  std::string_view name;
  std::string_view meaning;
  std::string_view formula;  // empty: none
  std::string_view source;   // where it comes from
  std::string_view shown;    // the name of a workspace or of a view; empty: everywhere
};

// In the order of the alphabet; no two of one name.
std::span<const Term> glossary();

struct GlossaryView {
  bool open = false;
  std::string typed;
  int chosen = 0;  // among glossary()
};

// Opens it at that term, which there must be.
void open_glossary(Scope& scope, std::string_view name);

void draw_glossary(Scope& scope, const Skin& skin);

}  // namespace attnscope
