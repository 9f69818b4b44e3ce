// View state of the attention workspace: one selection shared by all levels.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attention_measures.h"
#include "analysis/snapshot_difference.h"
#include "base/shown.h"
#include "config/heads.h"
#include "messages/head_importance.h"
#include "messages/interventions.h"
#include "messages/snapshot.h"
#include "widgets/heatmap.h"
#include "workspaces/attention/head_map.h"
#include "workspaces/attention/inside_stages.h"

namespace attnscope {

// ---- statistics of every head, computed when its map changes, a few heads per frame

// Budget of map cells per frame, but at least one head: one or two milliseconds.
inline constexpr std::size_t cells_measured_a_frame = 100'000;

struct MeasuredHead {
  std::uint64_t version = 0;  // of the measured map; 0: none yet
  MapMeasures measures;
};

struct HeadMeasures {
  std::array<std::vector<std::vector<MeasuredHead>>, 3> parts;  // [part][layer][head]
  std::uint64_t changes = 0;                                    // number of measurements so far
  bool pending = false;                                         // some heads are not measured yet, or have a newer map
};

// Measures heads of the part whose maps changed, until the budget is used up; at least one.
void measure(HeadMeasures& all, AttentionPart part, const Shown& shown, std::size_t& budget);

// The statistics of the head's last measured map; null: none.
const MapMeasures* measures_at(const HeadMeasures& all, const HeadPlace& place);

// ---- view state

// From overview to detail.
enum class AttentionLevel { model, head, inside, sublayers };

// The order of the thumbnails at the level "Model".
enum class HeadOrder { place, entropy, distance, attention };

struct RankedHead {
  HeadPlace place;
  std::optional<float> value;  // the sort key; nullopt: not available for this head
};

// The heads in the selected order; recomputed when its inputs change.
struct HeadRanking {
  struct Key {
    std::uint64_t newest = 0;  // versions of the snapshots
    std::uint64_t complete = 0;
    std::uint64_t measured = 0;
    HeadOrder order = HeadOrder::place;
    bool reversed = false;
    AttentionPart part = AttentionPart::encoder;
    std::optional<int> row;
    std::optional<int> col;
    bool operator==(const Key&) const = default;
  };
  Key key;
  std::vector<RankedHead> heads;  // empty for model order
  int columns = 1;                // of the drawn grid
};

// The picture at the level "Head": cells, lines between two columns of tokens, or both if there is room.
enum class HeadPicture { matrix, lines, both };

// State of the popup that creates interventions, and the measured effect.
struct InterventionsView {
  int query = 0;  // of the weight to be forced
  int key = 0;
  bool target = false;  // the token to be replaced is in the decoder input
  int position = 0;
  std::string text;                                      // the replacement
  std::string plus, minus;                               // the texts of a direction
  float factor = 0.5F;                                    // of the direction
  std::shared_ptr<const Snapshot> compared;              // the snapshot that `difference` belongs to
  std::shared_ptr<const SnapshotDifference> difference;  // computed once per snapshot
};

// State of the level "Inside one head".
struct InsideView {
  bool compare = false;              // with and without √d_k, side by side
  std::optional<Stage> alone;        // enlarged and drawn without the other stages
  std::optional<CellMask> lifted;    // keys masked by the model, but visible to the numbers in this view
  HeadPlace lifted_place;            // the head it applies to
  std::optional<bool> brush;         // while the mouse is down on the mask: the value it sets, true for hidden
  std::optional<StageCell> pointed;  // under the mouse in the last frame
  std::uint64_t versions = 0;        // number of versions computed so far
  std::shared_ptr<const HeadNumbers> numbers;
};

struct AttentionView {
  bool begun = false;  // the initial head was selected
  AttentionLevel level = AttentionLevel::head;

  // ---- the selection
  AttentionPart part = AttentionPart::cross;
  int layer = std::numeric_limits<int>::max();  // clamped: the last layer by default
  int head = 0;
  std::vector<HeadPlace> together;  // further heads of the same part, overlaid in colors with the selected one
  std::optional<int> pinned_row;    // the query whose weights are listed
  std::optional<int> pinned_col;    // a key, if one is selected too

  bool full_contrast = false;      // scale colors to each map's maximum instead of 1
  Interventions interventions;     // applied in the probe's forward pass
  InterventionsView intervention;  // state of choosing them
  InsideView inside;

  // ---- importance of each head, once measured (Circuit, Importance)
  std::vector<HeadImportance> importance;
  std::uint64_t importance_of = 0;  // the run it was measured on

  // ---- the level "Model"
  HeadOrder order = HeadOrder::place;
  bool reversed = false;  // reverses the order
  HeadRanking ranking;

  // ---- the level "Head"
  HeadPicture picture = HeadPicture::both;
  HeadMix mix = HeadMix::one;  // requested; shows only the selected head if not possible
  bool words = false;          // tokens merged into words
  PairFilter pair = PairFilter::all;
  bool margins = true;  // attention received by keys and entropy of queries, along the edges
  HeatmapZoom zoom;
  int pointed_row = -1;  // query and key under the mouse, as rows and columns of `map`
  int pointed_col = -1;

  // ---- derived from the snapshot when it changes
  HeadMeasures measures;
  HeadMap map;

  HeadPlace place() const { return {part, layer, head}; }
  HeadChoice choice() const;
};

// Selects the initial head, once: where a pronoun attends to its antecedent, if the sentence has one; else the first
// head of the last cross-attention layer.
void begin(AttentionView& view, const Snapshot& snapshot);

// Returns whether a model has that part.
bool has_part(const ModelConfig& model, AttentionPart part);

// Moves the selection to a part that the model has, if necessary.
void settle(AttentionView& view, const ModelConfig& model);

struct Selection {
  HeadPlace place;
  std::optional<int> row;
  std::optional<int> col;
};

// The view's selection clamped to the snapshot: the nearest layer and head, and the pinned row and column if they
// exist.
Selection selection_in(const AttentionView& view, const Snapshot& snapshot);

// Clamps layer, head, row and column to the snapshot.
void clamp_to(AttentionView& view, const Snapshot& snapshot);

// Selects only that head; unpins row and column if the part changes.
void select(AttentionView& view, const HeadPlace& place);

// Adds the head to those shown together, or removes it. A head of another part is selected instead, because its map has
// different rows.
void toggle_together(AttentionView& view, const HeadPlace& place);

// Its color among the heads shown together; 0 if it is not shown.
Color32 color_of(const AttentionView& view, const HeadPlace& place, const Theme& theme);

// Moves to the next level of more or less detail.
void move_level(AttentionView& view, const ModelConfig& model, int by);

// Pins that query or key, or unpins it if it was pinned.
void toggle_row(AttentionView& view, int row);
void toggle_col(AttentionView& view, int col);
void let_go(AttentionView& view);

// Updates the statistics of heads, some of them per frame.
void measure_heads(const ShownMaps& maps, AttentionView& view);

// Moves the selection by heads (columns of the grid) and layers (its rows), continuing into the next part; in a sorted
// list by its columns and rows.
void move_selection(AttentionView& view, const Snapshot& snapshot, int heads, int layers);

// Moves the pinned row by that many rows, starting at the listed one.
void move_pinned_row(AttentionView& view, const Snapshot& snapshot, int rows);

// The initial row: for a language model, the last token of the prompt, which predicts the first new one; else a
// pronoun.
int first_row(const Snapshot& snapshot, AttentionPart part);

int heads_of(const AttentionMaps& maps);

// The value at the top of the color scale of that head's thumbnail: 1, or with full contrast or `always` its largest.
float brightest(const AttentionView& view, const HeadPlace& place, bool always = false);

}  // namespace attnscope
