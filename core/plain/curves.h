// The measured series of a run, as the curve panel draws them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plain/messages.h"
#include "plain/series.h"

namespace attnscope {

struct Curves {
  Series train_loss;       // nats/token, smoothed labels
  Series validation_loss;  // nats/token, unsmoothed
  Series learning_rate;
  Series gradient_norm;
  Series tokens_per_second;
};

// A point at or before the last step replaces what stood from there on (a run resumed from a checkpoint).
void append(Curves& curves, const MetricPoint& point);

// Exponential moving average with weight `smoothing` (0…<1) on the past, bias-corrected as in Adam so that the
// beginning is not drawn towards zero. Points that are not finite are passed over.
std::vector<double> smoothed(std::span<const double> y, double smoothing);

// At most 2 × `columns` points of y over [x_min, x_max] that draw the same picture: each column's minimum and maximum,
// in the order they occur, plus one point either side of the window.
Series thinned(const Series& series, double x_min, double x_max, int columns);

}  // namespace attnscope
