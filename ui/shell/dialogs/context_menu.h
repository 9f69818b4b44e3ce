// The context menu (right button or its key): actions on the hover target or the keyboard's target.
#pragma once

#include <optional>
#include <vector>

#include "base/pointed.h"
#include "base/skin.h"
#include "base/terms.h"

namespace attnscope {

struct AppState;

// The target of the menu, set when it opens.
struct ContextMenu {
  std::optional<Pointed> about = {};
  bool asked = false;  // requested by the key
};

// The glossary entries related to a target, the closest first; at most a few.
std::vector<const Term*> terms_of(const Pointed& pointed);

// The target of the context menu key: the focused control, else the selected cell, else the hover target.
std::optional<Pointed> target_at_keyboard();

// Opens the menu where the right button was released or at the keyboard's target, and draws it; call once per frame,
// after all possible targets.
void draw_context_menu(AppState& scope, const Skin& skin);

}  // namespace attnscope
