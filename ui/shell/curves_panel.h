// The measured series of the run, stacked over one axis of steps.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/skin.h"
#include "plain/curves.h"
#include "plain/heads.h"
#include "plain/history.h"
#include "widgets/plot.h"

namespace attnscope {

// How much one query attended to one key over the recorded steps of a pinned sentence.
struct WeightCurve {
  std::string sentence;
  HeadPlace place;
  int row = 0;
  int col = 0;
  std::string title;  // "it → animal · encoder L2 H3"
  Series series;

  // What it was made from.
  bool pinned = false;  // the sentence was, when last looked
  std::size_t frames = 0;
  Frame newest;
};

inline constexpr std::size_t max_weight_curves = 7;  // told apart by colour

struct CurvesView {
  PlotAxis axis;
  std::vector<PlotView> plots;  // by the first metric of each, from the first frame on
  bool log = false;             // in the plots that can be drawn so
  std::vector<WeightCurve> weights;
  PlotView weight_plot;
  PlotView difference_plot;  // of two runs' losses
  float smoothing = 0.9F;    // weight on the past in the moving averages of what is noisy
};

// Fills what is left of the window. `other`: of the run that it is compared with, in the same plots, and the
// difference of the losses; null: nothing is compared.
void draw_curves(const Curves& curves, CurvesView& view, const Skin& skin, const Curves* other = nullptr);

// Makes those anew whose frames are others than before, and drops those whose sentence is not pinned any more.
void follow_history(std::vector<WeightCurve>& weights, const History& history);

// "step", a column a metric, plot by plot, of two runs also with "_b", and a column a weight; a line a step.
std::string curves_csv(const Curves& curves, std::span<const WeightCurve> weights = {}, const Curves* other = nullptr);

}  // namespace attnscope
