// The right button and its key: what can be done with what the mouse is over or the keyboard at.
#pragma once

#include <optional>
#include <vector>

#include "base/pointed.h"
#include "base/skin.h"
#include "base/terms.h"

namespace attnscope {

struct AppState;

// What the menu is about, from when it is opened.
struct ContextMenu {
  std::optional<Pointed> about = {};
  bool asked = false;  // by the key
};

// The entries of the glossary that a thing leads to, the nearest first; a few at most.
std::vector<const Term*> terms_of(const Pointed& pointed);

// What the key asks about: the control that the keyboard walks through, or the cell that is chosen, or else what the
// mouse is over.
std::optional<Pointed> target_at_keyboard();

// Opens it where the right button was let go or at what the key asked about, and draws it; once a frame, after what it
// may be about.
void draw_context_menu(AppState& scope, const Skin& skin);

}  // namespace attnscope
