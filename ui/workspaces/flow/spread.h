// How the values of every tensor, of its gradient and of the sentence's activations are spread, over the training.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plain/series.h"
#include "plain/tensor_spread.h"
#include "widgets/plot.h"
#include "workspaces/workspace.h"

namespace attnscope {

struct SpreadView {
  bool activations = false;  // are listed, not parameters
  bool gradient = false;     // of the chosen parameter, not its values
  int parameter = 0;         // the chosen ones
  int activation = 0;
  std::string wanted;  // a part of the names that are listed, as it is typed; empty: all are
  int point = -1;      // whose histogram is shown; −1: the newest

  // ---- asked for and answered
  std::optional<TensorsQuestion> asked;
  std::uint64_t asked_run = 0;
  std::uint64_t run = 0;  // of the look
  std::int64_t step = 0;
  std::optional<TensorsResult> inspection;
  std::vector<std::string> findings;

  // ---- made of what is chosen
  Series medians, extremes, histogram;
  double bin = 0;  // width
  PlotAxis steps_axis, values_axis;
  PlotView steps_plot, values_plot;
};

void take_tensors(SpreadView& view, TensorsResult inspection, std::uint64_t run, std::int64_t step);

// The list that is shown, and what of it is chosen; null where there is nothing.
const std::vector<TensorHistory>* listed_tensors(const SpreadView& view);
const TensorHistory* chosen_tensor(const SpreadView& view);

// Of the list those whose names have what is wanted, in small letters or large.
std::vector<int> matching_tensors(const SpreadView& view);

// The next tensor of those that match, the one before; the next step of the histogram.
void move_in_spreads(SpreadView& view, int tensors, int points);

void draw_spread(WorkspaceContext& context, SpreadView& view);

// Of the chosen tensor: its recorded steps × what is known of each.
std::optional<WorkspaceNumbers> spread_numbers(const SpreadView& view);

}  // namespace attnscope
