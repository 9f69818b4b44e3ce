// What is looked at in the chapters that need a model: recurrent networks, gradients, cost and length.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plain/classes.h"
#include "plain/cost.h"
#include "plain/gradients.h"
#include "plain/length.h"
#include "plain/recurrent_states.h"
#include "plain/snapshot.h"
#include "widgets/heatmap_options.h"
#include "widgets/plot.h"

namespace attnscope {

// ---- a recurrent layer

// One picture of the cell: units × pieces.
struct CellMap {
  std::string name;  // "forget gate f"
  Matrix values;     // rows in the order of RecurrentView::order
  float low = 0;
  float high = 1;
  bool is_signed = false;
};

struct RecurrentView {
  RecurrentWanted wanted;
  bool by_memory = true;  // units in the order of what they remember longest; else as they are
  int row = 0;            // the chosen unit, by its row
  int token = 0;          // the chosen step
  int query = 0;          // of attention over states: the step that asks

  // ---- worked out, when the look or the order changed
  std::shared_ptr<const Snapshot> snapshot;  // that the rest is of
  bool ordered_by_memory = false;
  std::vector<int> order;  // units, a row each
  std::vector<std::string> unit_names;
  std::vector<double> kept;  // kept_share of each row
  std::vector<CellMap> maps;
  std::uint64_t version = 0;

  int unit() const { return order.empty() ? 0 : order[static_cast<std::size_t>(row)]; }
};

// The look of the snapshot, null if it has none.
const RecurrentStates* settle(RecurrentView& view, const std::shared_ptr<const Snapshot>& snapshot);

// ---- gradients through time

struct GradientsView {
  std::optional<GradientQuestion> asked;  // of the run and step beneath
  std::uint64_t run = 0;
  std::int64_t step = 0;
  std::optional<GradientResult> inspection;
  std::vector<GradientResult> kept;  // of other runs, to stand beside it
  PlotAxis axis, layers_axis;
  PlotView plot{.log = true}, layers_plot{.log = true};

  // ---- made of them
  std::vector<Series> lines;
  std::vector<std::string> names;
  Series layers_plain, layers_bare;
  std::vector<std::string> layer_names;
};

void take_gradients(GradientsView& view, GradientResult inspection, std::uint64_t run, std::int64_t step);
void keep_gradients(GradientsView& view);  // the present ones beside those to come

// ---- cost

struct CostView {
  bool asked = false;
  std::uint64_t run = 0;
  std::optional<CostResult> inspection;
  PlotAxis axis{.log = true};
  PlotView times{.log = true}, memory{.log = true};

  std::vector<Series> measured, expected, held;  // a layer each
};

void take_cost(CostView& view, CostResult inspection, std::uint64_t run);

// ---- length

struct LengthsView {
  std::uint64_t asked_of = 0;  // run that was asked about last
  std::uint64_t run = 0;       // that the newest look is of
  std::int64_t step = 0;
  std::vector<LengthResult> inspections;  // the newest last; others of runs before
  PlotAxis axis;
  PlotView exact_plot, loss_plot;

  std::vector<Series> exact, loss;
};

inline constexpr std::size_t max_inspections = 7;  // as many as there are colours

void take_lengths(LengthsView& view, LengthResult inspection, std::uint64_t run, std::int64_t step);

// ---- classes

struct ClassesView {
  std::uint64_t asked_of = 0;  // run that was asked about last
  std::uint64_t run = 0;       // that the confusion is of
  std::int64_t step = 0;
  Confusion confusion;
  bool by_gradient = false;  // pieces by how far the label's loss reaches, not by what the pooling takes of them
  bool as_counts = false;    // texts, not shares of their class
  HeatmapZoom zoom;

  // ---- made of it
  Matrix shares, counts;
  std::uint64_t version = 0;
};

void take_confusion(ClassesView& view, Confusion confusion, std::uint64_t run, std::int64_t step);

}  // namespace attnscope
