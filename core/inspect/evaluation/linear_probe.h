// Linear probes: what can be read off vectors by a linear map (Hewitt & Liang 2019, arXiv 1909.03368).
#pragma once

#include <span>

#include "model/kernels/libtorch.h"

namespace attnscope {

struct ProbeScore {
  double accuracy = 0;  // on held-out rows, mean of five folds
  double control = 0;   // the same with random labels of the same frequencies: what the probe itself can memorize
};

// A ridge classifier on N×D with labels 0 … classes − 1. Always the same folds. Fewer rows than folds: 0.
ProbeScore linear_probe(const torch::Tensor& rows, std::span<const int> labels, int classes);

}  // namespace attnscope
