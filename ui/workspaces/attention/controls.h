// Above the pictures of one head: what it is, and how it is shown.
#pragma once

#include <optional>
#include <string>

#include "base/skin.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// The title, and what there is to say of the map shown.
// The look was asked for without this head: what it gives is zero, though its map is there.
bool is_switched_off(const Snapshot& snapshot, const HeadPlace& place);

void draw_head_caption(const Shown& shown, AttentionView& view, const Skin& skin);

// Matrix or lines, one head or many, pieces or words.
void draw_head_controls(const Shown& shown, AttentionView& view, const Skin& skin);

// In a few words, which fit a file's name: "encoder L2 H3 layer mean words".
std::string map_name(const HeadMap& map, const ModelConfig& model);

// ---- every head of the model in an order: by how it looks, or by how much it looks at one piece

// The token that is selected: a key's piece, or else a query's, where it is a key too.
struct SelectedToken {
  bool target = false;  // of the decoder's input, not the source
  int index = 0;
  std::string token;
};
std::optional<SelectedToken> selected_token(const AttentionView& view, const ShownMaps& maps);

// Brings view.ranking up to date. Entropy and distance grow, attention falls; reversed the other way. Heads without a
// value come last.
void rank_heads(AttentionView& view, const ShownMaps& maps);

// The row of buttons that chooses the order.
void draw_order_choice(AttentionView& view, const ShownMaps& maps, const Skin& skin);

}  // namespace attnscope
