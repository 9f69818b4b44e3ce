// The right button: what can be done with what the mouse is over.
#pragma once

#include <optional>
#include <vector>

#include "base/pointed.h"
#include "base/skin.h"
#include "base/terms.h"

namespace attnscope {

struct Scope;

// What the menu is about, from when it is opened.
struct ContextMenu {
  std::optional<Pointed> about;
};

// The entries of the glossary that a thing leads to, the nearest first; a few at most.
std::vector<const Term*> terms_of(const Pointed& pointed);

// Opens it where the right button was let go, and draws it; once a frame, after what it may be about.
void draw_context_menu(Scope& scope, const Skin& skin);

}  // namespace attnscope
