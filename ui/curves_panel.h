// The measured series of the run, stacked over one axis of steps.
#pragma once

#include "look.h"
#include "plain/curves.h"
#include "widgets/plot.h"

namespace attnscope {

struct CurvesView {
  PlotAxis axis;
  PlotView loss;
  PlotView learning_rate;
  PlotView gradient_norm;
  PlotView tokens_per_second;
  float smoothing = 0.9F;  // weight on the past in the moving averages of what is noisy
};

// Fills what is left of the window.
void draw_curves(const Curves& curves, CurvesView& view, const Look& look);

// "step,train_loss,validation_loss,learning_rate,gradient_norm,tokens_per_second", a line a step.
std::string curves_csv(const Curves& curves);

}  // namespace attnscope
