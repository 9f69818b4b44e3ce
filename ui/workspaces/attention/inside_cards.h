// The matrices of one head as small cards with an operator before each, in rows that wrap.
#pragma once

#include <string>
#include <vector>

#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/attention/view.h"

namespace attnscope {

struct HeadCards {
  const HeadNumbers& numbers;
  std::vector<std::string> queries;
  std::vector<std::string> keys;
};

// All stages in their order, or the one chosen to be seen alone. Fills what is left of the window and scrolls.
void draw_cards(const HeadCards& cards, AttentionView& view, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
