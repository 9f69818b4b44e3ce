// View state of the chapters that need a model: recurrent networks, gradients, cost and length.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/classes.h"
#include "messages/cost.h"
#include "messages/gradients.h"
#include "messages/length.h"
#include "messages/recurrent_states.h"
#include "messages/snapshot.h"
#include "widgets/heatmap_options.h"
#include "widgets/plot.h"

namespace attnscope {

// ---- a recurrent layer

// One map of the cell: units × tokens.
struct CellMap {
  std::string name;  // "forget gate f"
  Matrix values;     // rows in the order of RecurrentView::order
  float low = 0;
  float high = 1;
  bool is_signed = false;
};

struct RecurrentView {
  RecurrentWanted wanted;
  bool by_memory = true;  // sort units by how long they remember; false: the model's order
  int row = 0;            // row of the selected unit
  int token = 0;          // selected step
  int query = 0;          // of attention over states: the querying step

  // ---- derived when the snapshot or the order changes
  std::shared_ptr<const Snapshot> snapshot;  // the source of the rest
  bool ordered_by_memory = false;
  std::vector<int> order;  // unit of each row
  std::vector<std::string> unit_names;
  std::vector<double> kept;  // kept_share of each row
  std::vector<CellMap> maps;
  std::uint64_t version = 0;

  int unit() const { return order.empty() ? 0 : order[static_cast<std::size_t>(row)]; }
};

// Updates the view; returns the snapshot's recurrent states, null if it has none.
const RecurrentStates* settle(RecurrentView& view, const std::shared_ptr<const Snapshot>& snapshot);

// ---- gradients through time

struct GradientsView {
  std::optional<GradientQuestion> asked;  // of the run and step below
  std::uint64_t run = 0;
  std::int64_t step = 0;
  std::optional<GradientResult> inspection;
  std::vector<GradientResult> kept;  // of other runs, for comparison
  PlotAxis axis, layers_axis;
  PlotView plot{.log = true}, layers_plot{.log = true};

  // ---- derived from the results
  std::vector<Series> lines;
  std::vector<std::string> names;
  Series layers_plain, layers_bare;
  std::vector<std::string> layer_names;
};

void take_gradients(GradientsView& view, GradientResult inspection, std::uint64_t run, std::int64_t step);
void keep_gradients(GradientsView& view);  // retains the present results for comparison with later ones

// ---- cost

struct CostView {
  bool asked = false;
  std::uint64_t run = 0;
  std::optional<CostResult> inspection;
  PlotAxis axis{.log = true};
  PlotView times{.log = true}, memory{.log = true};

  std::vector<Series> measured, expected, held;  // one per layer
};

void take_cost(CostView& view, CostResult inspection, std::uint64_t run);

// ---- length

struct LengthsView {
  std::uint64_t asked_of = 0;  // last run of a request
  std::int64_t asked_step = 0;  // at that request
  std::uint64_t run = 0;       // run of the newest result
  std::int64_t step = 0;
  std::vector<LengthResult> inspections;  // newest last; the others are of previous runs
  PlotAxis axis;
  PlotView exact_plot, loss_plot;

  std::vector<Series> exact, loss;
};

inline constexpr std::size_t max_inspections = 7;  // the number of colors

void take_lengths(LengthsView& view, LengthResult inspection, std::uint64_t run, std::int64_t step);

// ---- classes

struct ClassesView {
  std::uint64_t asked_of = 0;  // last run of a request
  std::uint64_t run = 0;       // run of the confusion matrix
  std::int64_t step = 0;
  Confusion confusion;
  bool by_gradient = false;  // weight tokens by the gradient of the label's loss instead of the pooling weights
  bool as_counts = false;    // number of texts instead of the fraction of their class
  HeatmapZoom zoom;

  // ---- derived from the result
  Matrix shares, counts;
  std::uint64_t version = 0;
};

void take_confusion(ClassesView& view, Confusion confusion, std::uint64_t run, std::int64_t step);

}  // namespace attnscope
