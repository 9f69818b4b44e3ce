// The measured series of the run, as plots stacked over one axis of steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/curves.h"
#include "base/skin.h"
#include "config/heads.h"
#include "messages/history.h"
#include "widgets/plot.h"

namespace attnscope {

// The attention weight from one query to one key over the recorded steps of a pinned sentence.
struct WeightCurve {
  std::string sentence;
  HeadPlace place;
  int row = 0;
  int col = 0;
  std::string title;  // "it → animal · encoder L2 H3"
  Series series;

  // Cache state of the curve.
  bool pinned = false;  // whether the sentence was pinned at the last check
  std::size_t frames = 0;
  Frame newest;
};

inline constexpr std::size_t max_weight_curves = 7;  // limited by the number of distinct colors

struct CurvesView {
  PlotAxis axis;
  std::vector<PlotView> plots;  // keyed by the first metric of each plot, in order from the first frame
  bool log = false;             // where a logarithmic axis is possible
  std::vector<WeightCurve> weights;
  std::optional<std::int64_t> best_step;  // with the lowest validation loss; none: unknown
  PlotView weight_plot;
  PlotView difference_plot;  // of the two runs' losses
  bool copied = false;       // to the clipboard, in this frame
  std::string note;          // what to know before two of the curves are compared; empty: nothing
  float smoothing = 0.9F;    // weight of the past in the moving averages of noisy metrics
};

// Fills the rest of the window. `other`: curves of the run compared with, drawn in the same plots along with the
// difference of the losses; null: no comparison.
void draw_curves(const Curves& curves, CurvesView& view, const Skin& skin, const Curves* other = nullptr);

// Recomputes the curves whose frames changed, and drops those whose sentence is no longer pinned.
void follow_history(std::vector<WeightCurve>& weights, const History& history);

// CSV with "step", one column per metric (for two runs also with "_b"), plot by plot, and one column per weight; one
// line per step.
std::string curves_csv(const Curves& curves, std::span<const WeightCurve> weights = {}, const Curves* other = nullptr);

}  // namespace attnscope
