// Every head's attention map, and one of them large (paper §3.2).
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "look.h"
#include "plain/heads.h"
#include "shown.h"
#include "textures.h"

namespace attnscope {

struct AttentionView {
  bool begun = false;  // the first head to show has been chosen
  AttentionPart part = AttentionPart::cross;
  int layer = std::numeric_limits<int>::max();  // clamped: begins at the last
  int head = 0;
  bool full_contrast = false;     // colours go to each map's largest weight instead of 1
  std::optional<int> pinned_row;  // the query whose weights are listed
};

// Chooses the first head to show, once: where a pronoun finds its antecedent, if the sentence has one; else the first
// of the last cross-attention layer.
void begin(AttentionView& view, const Snapshot& snapshot);

// Whether such a model has that part.
bool has_part(const ModelConfig& model, AttentionPart part);

// Brings the selection to a part that such a model has, if it is not in one.
void settle(AttentionView& view, const ModelConfig& model);

// Why there is nothing to look at in a model without attention.
std::string no_attention_text(const ModelConfig& model);

// The view with layer, head and row brought into what the snapshot has.
AttentionView clamped(AttentionView view, const Snapshot& snapshot);

// −Σ w ln w of each row, averaged over the rows, in nats. Zero for an empty map.
float mean_row_entropy(const Matrix& weights);

// Moves the selection by heads (columns of the grid) and layers (its rows), through the parts in turn.
void move_selection(AttentionView& view, const Snapshot& snapshot, int heads, int layers);

// Pins the row that many rows further than the one listed.
void move_pinned_row(AttentionView& view, const Snapshot& snapshot, int rows);

// Fills what is left of the window. The encoder's maps come from `newest`, which has a snapshot, the others from
// `complete`, whose snapshot may be null. `grid_width` is that of the grid of heads, in pixels at scale 1.
void draw_attention(const Shown& newest, const Shown& complete, AttentionView& view, float& grid_width,
                    TextureStore& textures, const Look& look);

}  // namespace attnscope
