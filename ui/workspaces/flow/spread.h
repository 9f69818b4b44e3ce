// The distributions of every tensor, its gradient and the sentence's activations over training.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/series.h"
#include "messages/tensor_spread.h"
#include "widgets/plot.h"
#include "workspaces/workspace.h"

namespace attnscope {

struct SpreadView {
  bool activations = false;  // list activations instead of parameters
  bool gradient = false;     // the selected parameter's gradient instead of its values
  int parameter = 0;         // index of the selected one
  int activation = 0;
  std::string wanted;  // filter for the listed names, as typed; empty: all
  int point = -1;      // recorded step whose histogram is shown; −1: the newest

  // ---- questions and results
  std::optional<TensorsQuestion> asked;
  std::uint64_t asked_run = 0;
  std::uint64_t run = 0;  // of the result
  std::int64_t step = 0;
  std::optional<TensorsResult> inspection;
  std::vector<std::string> findings;

  // ---- derived from the selection
  Series medians, extremes, histogram;
  double bin = 0;  // bin width
  PlotAxis steps_axis, values_axis;
  PlotView steps_plot, values_plot;
};

void take_tensors(SpreadView& view, TensorsResult inspection, std::uint64_t run, std::int64_t step);

// The list on display, and its selected entry; null if there is none.
const std::vector<TensorHistory>* listed_tensors(const SpreadView& view);
const TensorHistory* chosen_tensor(const SpreadView& view);

// The entries whose names contain the filter, ignoring case.
std::vector<int> matching_tensors(const SpreadView& view);

// Moves to the next or previous matching tensor; and to another step of the histogram.
void move_in_spreads(SpreadView& view, int tensors, int points);

void draw_spread(WorkspaceContext& context, SpreadView& view);

// For the selected tensor: recorded steps × statistics.
std::optional<WorkspaceNumbers> spread_numbers(const SpreadView& view);

}  // namespace attnscope
