// What is looked at in the attention workspace: one selection for all its levels.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "plain/heads.h"
#include "plain/interventions.h"
#include "plain/snapshot.h"
#include "shown.h"

namespace attnscope {

// From far to near.
enum class AttentionLevel { model, head, inside, sublayers };

struct AttentionView {
  bool begun = false;  // the first head to show has been chosen
  AttentionLevel level = AttentionLevel::head;

  // ---- the selection
  AttentionPart part = AttentionPart::cross;
  int layer = std::numeric_limits<int>::max();  // clamped: begins at the last
  int head = 0;
  std::optional<int> pinned_row;  // the query whose weights are listed
  std::optional<int> pinned_col;  // a key, if one was chosen too

  bool full_contrast = false;  // colours go to each map's largest weight instead of 1
  Interventions changes;       // to the model while it is looked at

  HeadPlace place() const { return {part, layer, head}; }
};

// The encoder's maps come from `newest`, which has a snapshot, the others from `complete`, whose snapshot may be null.
struct ShownMaps {
  const Shown& newest;
  const Shown& complete;
  const Shown& of(AttentionPart part) const { return part == AttentionPart::encoder ? newest : complete; }
  // Nothing to draw: not decoded yet, or not in this model.
  bool lacks(AttentionPart part) const;
};

// Chooses the first head to show, once: where a pronoun finds its antecedent, if the sentence has one; else the first
// of the last cross-attention layer.
void begin(AttentionView& view, const Snapshot& snapshot);

// Whether such a model has that part.
bool has_part(const ModelConfig& model, AttentionPart part);

// Brings the selection to a part that such a model has, if it is not in one.
void settle(AttentionView& view, const ModelConfig& model);

// The view with layer, head, row and column brought into what the snapshot has.
AttentionView clamped(AttentionView view, const Snapshot& snapshot);

// Moves the selection to that head; a row and column of another part are let go.
void select(AttentionView& view, const HeadPlace& place);

// Moves the selection by heads (columns of the grid) and layers (its rows), through the parts in turn.
void move_selection(AttentionView& view, const Snapshot& snapshot, int heads, int layers);

// Pins the row that many rows further than the one listed.
void move_pinned_row(AttentionView& view, const Snapshot& snapshot, int rows);

// Queries and keys of a part's maps.
const std::vector<Token>& row_tokens(const Snapshot& snapshot, AttentionPart part);
const std::vector<Token>& col_tokens(const Snapshot& snapshot, AttentionPart part);

// The row to see first: a language model's last given piece, which decides the first new one; else a pronoun.
int first_row(const Snapshot& snapshot, AttentionPart part);

int heads_of(const AttentionMaps& maps);

// −Σ w ln w of each row, averaged over the rows, in nats. Zero for an empty map.
float mean_row_entropy(const Matrix& weights);

// The weight drawn in the brightest colour.
float brightest(const Matrix& map, bool full_contrast);

}  // namespace attnscope
