// Linear probes: what can be read off vectors by a linear map (Hewitt & Liang 2019, arXiv 1909.03368).
#pragma once

#include <span>

#include "model/kernels/libtorch.h"

namespace attnscope {

struct ProbeScore {
  double accuracy = 0;  // on held-out rows, mean of five folds
  double control = 0;   // the same with random labels of the same frequencies: what the probe itself can memorize
};

// A ridge classifier on N×D with labels 0 … classes − 1. Always the same folds. Fewer rows than folds: 0. In the
// control task all rows of a type have the same label; without types, every row is its own.
ProbeScore linear_probe(const torch::Tensor& rows, std::span<const int> labels, int classes,
                        std::span<const int> types = {});

// C×D: the direction in which the classifier reads each class, as long as the mean of the class is apart along it from
// the mean of all other rows.
torch::Tensor probe_directions(const torch::Tensor& rows, std::span<const int> labels, int classes);

}  // namespace attnscope
