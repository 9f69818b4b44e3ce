// The matrices of one head as small cards, with an operator before each, in wrapping rows.
#pragma once

#include <string>
#include <vector>

#include "base/skin.h"
#include "base/textures.h"
#include "widgets/heatmap.h"
#include "workspaces/attention/view.h"

namespace attnscope {

struct HeadCards {
  const HeadNumbers& numbers;
  std::vector<std::string> queries;
  std::vector<std::string> keys;
};

// Draws all stages in order, or only the enlarged one. Fills the rest of the window and scrolls.
void draw_cards(const HeadCards& cards, AttentionView& view, TextureStore& textures, const Skin& skin);

// Draws the head with and without division of the scores by √d_k, side by side (paper §3.2.1). As wide as the rest of
// the window; advances the cursor.
void draw_scaling(const HeadCards& cards, TextureStore& textures, const Skin& skin);

// ---- the mask, edited cell by cell: shows how the head's output would change

// The mask to compute with: the model's, with the user's edits.
CellMask shown_mask(const AttentionView& view, const HeadInside& head);

// Hides no key from that head. Only the numbers in this view then include tokens that the decoder has not generated
// yet.
void lift_mask(AttentionView& view, const HeadInside& head);

// Handles the mouse on the mask: a click toggles a cell, and a drag applies the same value.
void paint_mask(AttentionView& view, const HeadNumbers& numbers, const HeatmapResult& mouse);

// Draws "Original", "Look-ahead", "None" and the choice of a key to hide, in a wrapping row.
void draw_mask_buttons(AttentionView& view, const HeadNumbers& numbers, std::span<const std::string> keys,
                       const Skin& skin);

// Draws how far an edited mask changes the sublayer's output for each query; nothing with the model's own mask.
void draw_mask_effect(const HeadNumbers& numbers, std::span<const std::string> queries, TextureStore& textures,
                      const Skin& skin);
float mask_effect_height(const Skin& skin);

}  // namespace attnscope
