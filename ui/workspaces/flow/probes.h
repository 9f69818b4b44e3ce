// View "Probes": what linear classifiers read off the vectors of every layer.
#pragma once

#include <string>
#include <vector>

#include "common/series.h"
#include "messages/senses.h"
#include "widgets/plot.h"
#include "workspaces/asked_once.h"
#include "workspaces/workspace.h"

namespace attnscope {

struct ProbesView {
  AskedOnce<ProbingQuestion, ProbingResult> study;
  bool begun = false;  // the first label was chosen, by what the corpus knows
  std::string typed = "it";
  std::size_t layer = 0, chosen = 0;  // whose direction is offered: an index of the layers, and one of the classes
  float steering = 1;

  std::vector<Series> over_steps;  // by layer
  PlotAxis steps_axis;
  PlotView steps_plot;
};

void take_probes(ProbesView& view, ProbingResult result, std::uint64_t run, std::int64_t step);
void draw_probes(WorkspaceContext& context, ProbesView& view);

}  // namespace attnscope
