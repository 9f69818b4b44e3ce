// What is looked at in the data-flow workspace: one box, layer, head and piece for all its views.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/soft_lookup.h"
#include "plain/architecture.h"
#include "plain/batch_inspection.h"
#include "plain/data_flow.h"
#include "plain/snapshot.h"
#include "widgets/plot.h"
#include "workspaces/flow/spread.h"
#include "workspaces/workspace.h"

namespace attnscope {

enum class FlowMode { architecture, lookup, batch, spread };

// What the view "Soft database" remembers, and has worked out.
struct LookupView {
  bool exact = false;  // a hard maximum instead of the softmax is built up
  LookupOrder order = LookupOrder::as_written;
  std::optional<int> added;  // so many rows are added up; none: all
  float strip_height = 0;    // of the queries to choose from, in the last frame

  // ---- made from a snapshot, when it or one of these changed
  std::shared_ptr<const Snapshot> snapshot;
  int query = -1;
  bool shown_exact = false;
  LookupOrder shown_order = LookupOrder::as_written;
  SoftLookup shown;
  Matrix keys;     // in the table's order, K×d
  Matrix outputs;  // 2×d: of the softmax, and of the hard maximum
  Matrix table;    // match, weight and the d numbers of the sum, a row a key: to be exported
  std::uint64_t version = 0;
};

// The attention whose mask is shown over a row of the batch.
enum class BatchMask { encoder, decoder, cross };

// What the view "Batch" remembers, and has made of the batch.
struct BatchView {
  int part = 0;
  int row = 0;       // the pair
  int position = 1;  // of its target
  BatchMask mask = BatchMask::decoder;
  int dropout_place = 0;  // of BatchInspection::dropout_places
  PlotAxis smoothing_axis;
  PlotView smoothing_plot;

  std::shared_ptr<const BatchInspection> batch;
  Series smoothed;  // the target of the chosen position, over the vocabulary
  int smoothed_id = -1;
  float scroll = 0;  // of all three sides
  Matrix ids;        // of all three sides, one above the other: to be exported
  std::vector<std::string> id_rows;
  std::uint64_t version = 0;
};

struct FlowView {
  bool begun = false;  // the first layer and head have been chosen
  FlowMode mode = FlowMode::architecture;

  // ---- the selection
  FlowBox box;
  int layer = 0;
  int head = 0;
  std::optional<int> token;  // none chosen: a pronoun, or the last word
  bool convolution = false;  // the feed-forward is computed as two
  int matrix = -1;           // of the box: the one whose numbers are exported; −1: the last
  bool alone = false;        // it is drawn alone, large

  LookupView lookup;
  BatchView batch;
  SpreadView spread;

  std::shared_ptr<const Snapshot> shown;  // in the last frame
};

// Brings the selection to what such a model has; at first to the head that attention begins with.
void settle(FlowView& view, const Snapshot& snapshot);

// To the next box of its column, or to the other column.
void move_box(FlowView& view, const ModelConfig& model, int up, int columns);
void select_box(FlowView& view, const FlowBox& box);

// Whether the box stands in every layer.
bool is_repeated(const FlowView& view, const ModelConfig& model);

// The attention that the box is; none: it is another box.
std::optional<AttentionPart> attention_of(const FlowBox& box);

// Brings the selection to an attention, if such a model has one: true if it is one now.
bool settle_on_attention(FlowView& view, const ModelConfig& model);

// To the next attention of the model, or the one before.
void move_attention(FlowView& view, const ModelConfig& model, int by);

// The pieces that go through the box.
const std::vector<Token>& tokens_of(const Snapshot& snapshot, const FlowBox& box);
int shown_token(const FlowView& view, const Snapshot& snapshot);

// "encoder, layer 1", as far as the box has it.
std::string place_of(const FlowBox& box, int layer, const ModelConfig& model);

FlowSizes sizes_of(const Snapshot& snapshot);

}  // namespace attnscope
