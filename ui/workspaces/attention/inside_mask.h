// The mask of one head, painted cell by cell: what would this head do? The model stays as it is.
#pragma once

#include "base/skin.h"
#include "widgets/heatmap.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// The mask to compute with: the painted one if it fits this head, else the model's.
CellMask shown_mask(const AttentionView& view, const HeadInside& head);

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
