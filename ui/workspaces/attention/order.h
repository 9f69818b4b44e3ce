// Every head of the model in an order: by how it looks, or by how much it looks at one piece.
#pragma once

#include <optional>
#include <string>

#include "base/skin.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// The token that is selected: a key's piece, or else a query's, where it is a key too.
struct SelectedToken {
  bool target = false;  // of the decoder's input, not the source
  int index = 0;
  std::string piece;
};
std::optional<SelectedToken> selected_token(const AttentionView& view, const ShownMaps& maps);

// Brings view.ranking up to date. Entropy and distance grow, attention falls; reversed the other way. Heads without a
// value come last.
void rank_heads(AttentionView& view, const ShownMaps& maps);

// The row of buttons that chooses the order.
void draw_order_choice(AttentionView& view, const ShownMaps& maps, const Skin& skin);

}  // namespace attnscope
