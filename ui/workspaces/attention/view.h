// What is looked at in the attention workspace: one selection for all its levels.
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
#include "plain/head_importance.h"
#include "plain/heads.h"
#include "plain/interventions.h"
#include "plain/snapshot.h"
#include "widgets/heatmap.h"
#include "workspaces/attention/head_map.h"
#include "workspaces/attention/inside_stages.h"

namespace attnscope {

// ---- numbers about every head, made when its map changed, a few heads a frame

// How many cells are looked at in one frame, at least one head: a millisecond or two.
inline constexpr std::size_t cells_measured_a_frame = 100'000;

struct MeasuredHead {
  std::uint64_t version = 0;  // of the map measured; 0: none yet
  MapMeasures measures;
};

struct HeadMeasures {
  std::array<std::vector<std::vector<MeasuredHead>>, 3> parts;  // [part][layer][head]
  std::uint64_t changes = 0;                                    // counts the heads measured
  bool pending = false;                                         // some are not measured yet, or have a newer map
};

// Measures the part's heads that have another map by now, until the budget is used up; at least one.
void measure(HeadMeasures& all, AttentionPart part, const AttentionMaps& maps, std::uint64_t version,
             std::size_t& budget);

// The measures of the head's last map; null: none was measured.
const MapMeasures* measures_at(const HeadMeasures& all, const HeadPlace& place);

// ---- what is looked at

// From far to near.
enum class AttentionLevel { model, head, inside, sublayers };

// The order of the thumbnails at the level "Model".
enum class HeadOrder { place, entropy, distance, attention };

struct RankedHead {
  HeadPlace place;
  std::optional<float> value;  // what is sorted by; none: not to be had of this head
};

// The heads in the order wanted, made when something about it changed.
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
  std::vector<RankedHead> heads;  // none while every head is in its place
  int columns = 1;                // in which they are drawn
};

// How the level "Head" draws: cells, lines between two columns of pieces, or both where there is room.
enum class HeadPicture { matrix, lines, both };

// What is remembered of intervening: what is being put together in the popup, and what the interventions did.
struct InterventionsView {
  int query = 0;  // to be forced
  int key = 0;
  bool target = false;  // the piece to be replaced is one of the decoder's input
  int position = 0;
  std::string text;                                      // instead of it
  std::shared_ptr<const Snapshot> compared;              // what `difference` is of
  std::shared_ptr<const SnapshotDifference> difference;  // made once a look
};

// What the level "Inside one head" remembers.
struct InsideView {
  bool compare = false;              // √d_k on and off side by side
  std::optional<Stage> alone;        // drawn alone, as large as there is room
  std::optional<CellMask> lifted;    // keys that the model hides, and that its numbers here see all the same
  HeadPlace lifted_place;            // of which head
  std::optional<bool> brush;         // while the mouse is down on the mask: what it hides (true) or shows
  std::optional<StageCell> pointed;  // under the mouse in the last frame
  std::uint64_t versions = 0;        // of the numbers made so far
  std::shared_ptr<const HeadNumbers> numbers;
};

struct AttentionView {
  bool begun = false;  // the first head to show has been chosen
  AttentionLevel level = AttentionLevel::head;

  // ---- the selection
  AttentionPart part = AttentionPart::cross;
  int layer = std::numeric_limits<int>::max();  // clamped: begins at the last
  int head = 0;
  std::vector<HeadPlace> together;  // further heads of the same part, shown in colours with the selected one
  std::optional<int> pinned_row;    // the query whose weights are listed
  std::optional<int> pinned_col;    // a key, if one was chosen too

  bool full_contrast = false;      // colours go to each map's largest weight instead of 1
  Interventions interventions;     // in the model while it is looked at
  InterventionsView intervention;  // and what is remembered of choosing them
  InsideView inside;

  // ---- what each head is worth, once it was measured (Circuit, Importance)
  std::vector<HeadImportance> importance;
  std::uint64_t importance_of = 0;  // the run

  // ---- the level "Model"
  HeadOrder order = HeadOrder::place;
  bool reversed = false;  // the order
  HeadRanking ranking;

  // ---- the level "Head"
  HeadPicture picture = HeadPicture::both;
  HeadMix mix = HeadMix::one;  // wanted; what is not possible shows the selected head alone
  bool words = false;          // pieces merged into words
  bool margins = true;         // what keys get and how spread queries are, along the edges
  HeatmapZoom zoom;
  int pointed_row = -1;  // query and key under the mouse, as rows and columns of `map`
  int pointed_col = -1;

  // ---- made from the snapshot, when it changed
  HeadMeasures measures;
  HeadMap map;

  HeadPlace place() const { return {part, layer, head}; }
  HeadChoice choice() const;
};

// Chooses the first head to show, once: where a pronoun finds its antecedent, if the sentence has one; else the first
// of the last cross-attention layer.
void begin(AttentionView& view, const Snapshot& snapshot);

// Whether such a model has that part.
bool has_part(const ModelConfig& model, AttentionPart part);

// Brings the selection to a part that such a model has, if it is not in one.
void settle(AttentionView& view, const ModelConfig& model);

struct Selection {
  HeadPlace place;
  std::optional<int> row;
  std::optional<int> col;
};

// What of the view's selection the snapshot has: the nearest layer and head, the pinned row and column if it has them.
Selection selection_in(const AttentionView& view, const Snapshot& snapshot);

// Brings layer, head, row and column into what the snapshot has.
void clamp_to(AttentionView& view, const Snapshot& snapshot);

// Moves the selection to that head alone; a row and column of another part are let go.
void select(AttentionView& view, const HeadPlace& place);

// Shows the head together with those that are shown, or no longer. A head of another part is selected alone: the maps
// of two parts have other rows.
void toggle_together(AttentionView& view, const HeadPlace& place);

// Its colour among the heads shown together; 0 for one that is not shown.
Color32 color_of(const AttentionView& view, const HeadPlace& place, const Theme& theme);

// To the next nearer level, or the next farther one.
void move_level(AttentionView& view, const ModelConfig& model, int by);

// Chooses that query or key, or lets it go if it was chosen.
void toggle_row(AttentionView& view, int row);
void toggle_col(AttentionView& view, int col);
void let_go(AttentionView& view);

// Brings the numbers about the heads up to date, some of them a frame.
void measure_heads(const ShownMaps& maps, AttentionView& view);

// Moves the selection by heads (columns of the grid) and layers (its rows), through the parts in turn; in a sorted list
// by as many of its columns and rows.
void move_selection(AttentionView& view, const Snapshot& snapshot, int heads, int layers);

// Pins the row that many rows further than the one listed.
void move_pinned_row(AttentionView& view, const Snapshot& snapshot, int rows);

// The row to see first: a language model's last given piece, which decides the first new one; else a pronoun.
int first_row(const Snapshot& snapshot, AttentionPart part);

int heads_of(const AttentionMaps& maps);

// The weight drawn in the brightest colour of that head's thumbnail.
float brightest(const AttentionView& view, const HeadPlace& place);

}  // namespace attnscope
