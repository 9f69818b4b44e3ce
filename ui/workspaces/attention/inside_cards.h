// The matrices of one head as small cards with an operator before each, in rows that wrap.
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

// All stages in their order, or the one chosen to be seen alone. Fills what is left of the window and scrolls.
void draw_cards(const HeadCards& cards, AttentionView& view, TextureStore& textures, const Skin& skin);

// The head with its scores divided by √d_k and not, side by side (paper §3.2.1). As wide as what is left of the window;
// advances the cursor.
void draw_scaling(const HeadCards& cards, TextureStore& textures, const Skin& skin);

// ---- the mask, painted cell by cell: what would this head do, and what would come of it?

// The mask to compute with: the model's, with what is painted into it.
CellMask shown_mask(const AttentionView& view, const HeadInside& head);

// Hides no key from that head. What the decoder has not written yet is then shown to the numbers here alone.
void lift_mask(AttentionView& view, const HeadInside& head);

// What the mouse does on the picture of the mask: a click turns a cell, dragging goes on with the same.
void paint_mask(AttentionView& view, const HeadNumbers& numbers, const HeatmapResult& mouse);

// "as the model has it", "look-ahead", "none" and "hide key …", in one row that wraps.
void draw_mask_buttons(AttentionView& view, const HeadNumbers& numbers, std::span<const std::string> keys,
                       const Skin& skin);

// How far another mask than the model's moves the sublayer's output of every query; nothing with the model's.
void draw_mask_effect(const HeadNumbers& numbers, std::span<const std::string> queries, TextureStore& textures,
                      const Skin& skin);
float mask_effect_height(const Skin& skin);

}  // namespace attnscope
