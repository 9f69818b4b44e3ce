// View state of the data-flow workspace: one box, layer, head and token for all its views.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/soft_lookup.h"
#include "config/architecture.h"
#include "messages/batch_inspection.h"
#include "messages/data_flow.h"
#include "messages/snapshot.h"
#include "widgets/plot.h"
#include "workspaces/flow/contexts.h"
#include "workspaces/flow/neurons.h"
#include "workspaces/flow/probes.h"
#include "workspaces/flow/spread.h"
#include "workspaces/workspace.h"

namespace attnscope {

enum class FlowMode { architecture, lookup, batch, spread, neurons, contexts, probes };

// State and results of the view "Soft database".
struct LookupView {
  bool exact = false;  // use a hard maximum instead of the softmax
  LookupOrder order = LookupOrder::as_written;
  std::optional<int> added;  // number of rows summed; nullopt: all
  float strip_height = 0;    // height of the list of queries, in the last frame

  // ---- derived from a snapshot when it or the selection changes
  std::shared_ptr<const Snapshot> snapshot;
  int query = -1;
  bool shown_exact = false;
  LookupOrder shown_order = LookupOrder::as_written;
  SoftLookup shown;
  Matrix keys;     // in table order, K×d
  Matrix outputs;  // 2×d: of the softmax, and of the hard maximum
  Matrix table;    // score, weight and the d components of the sum, one row per key; for export
  std::uint64_t version = 0;
};

// The attention whose mask is shown for a row of the batch.
enum class BatchMask { encoder, decoder, cross };

// State of the view "Batch", and results for the batch.
struct BatchView {
  int part = 0;
  int row = 0;       // index of the pair
  int position = 1;  // in its target
  BatchMask mask = BatchMask::decoder;
  int dropout_place = 0;  // index into BatchInspection::dropout_places
  PlotAxis smoothing_axis;
  PlotView smoothing_plot;

  std::shared_ptr<const BatchInspection> batch;
  Series smoothed;  // target distribution of the selected position over the vocabulary
  int smoothed_id = -1;
  float scroll = 0;  // shared by all three sides
  Matrix ids;        // of all three sides, stacked; for export
  std::vector<std::string> id_rows;
  std::uint64_t version = 0;
};

struct FlowView {
  bool begun = false;  // the initial layer and head were selected
  FlowMode mode = FlowMode::architecture;

  // ---- the selection
  FlowBox box;
  int layer = 0;
  int head = 0;
  std::optional<int> token;  // nullopt: a pronoun, or the last word
  bool convolution = false;  // compute the feed-forward network as two convolutions
  int matrix = -1;           // of the box: the matrix to export; −1: the last
  bool alone = false;        // it is enlarged and drawn without the others

  LookupView lookup;
  BatchView batch;
  SpreadView spread;
  NeuronsView neurons;
  ContextsView contexts;
  ProbesView probes;

  std::shared_ptr<const Snapshot> shown;  // in the last frame
};

// Clamps the selection to the model; initially selects the attention workspace's initial head.
void settle(FlowView& view, const Snapshot& snapshot);

// Moves to the next box of its column, or to the other column.
void move_box(FlowView& view, const ModelConfig& model, int up, int columns);
void select_box(FlowView& view, const FlowBox& box);

// True if the box occurs in every layer.
bool is_repeated(const FlowView& view, const ModelConfig& model);

// The attention part of the box; nullopt: it is not an attention box.
std::optional<AttentionPart> attention_of(const FlowBox& box);

// The number of heads in the box's stack.
int heads_of_box(const ModelConfig& model, const FlowBox& box);

// Moves the selection to an attention box if the model has one; returns true if an attention box is selected then.
bool settle_on_attention(FlowView& view, const ModelConfig& model);

// Moves to the model's next or previous attention.
void move_attention(FlowView& view, const ModelConfig& model, int by);

// The tokens that pass through the box.
const std::vector<Token>& tokens_of(const Snapshot& snapshot, const FlowBox& box);
int shown_token(const FlowView& view, const Snapshot& snapshot);

// "encoder, layer 1", as far as it applies to the box.
std::string place_of(const FlowBox& box, int layer, const ModelConfig& model);

FlowSizes sizes_of(const Snapshot& snapshot);

}  // namespace attnscope
