// The controls above the pictures of one head: its title, and how it is drawn.
#pragma once

#include <optional>
#include <string>

#include "base/skin.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// True if the snapshot was computed with this head ablated: its output is zero, but its map exists.
bool is_switched_off(const Snapshot& snapshot, const HeadPlace& place);

void draw_head_caption(const Shown& shown, AttentionView& view, const Skin& skin);

// Selects matrix or lines, one head or several, tokens or words.
void draw_head_controls(const Shown& shown, AttentionView& view, const Skin& skin);

// A short description, usable in a file name: "encoder L2 H3 layer mean words".
std::string map_name(const HeadMap& map, const ModelConfig& model);

// ---- all heads of the model, sorted by a statistic or by their attention to one token

// The selected token: a key, or else a query if it is also a key.
struct SelectedToken {
  bool target = false;  // of the decoder input, not the source
  int index = 0;
  std::string token;
};
std::optional<SelectedToken> selected_token(const AttentionView& view, const ShownMaps& maps);

// Updates view.ranking. Entropy and distance ascend, attention descends; reversed: the opposite. Heads without a value
// come last.
void rank_heads(AttentionView& view, const ShownMaps& maps);

// Draws the row of buttons that selects the order.
void draw_order_choice(AttentionView& view, const ShownMaps& maps, const Skin& skin);

}  // namespace attnscope
