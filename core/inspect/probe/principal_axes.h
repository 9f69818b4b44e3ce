// Principal component analysis: the directions of largest variance.
#pragma once

#include <vector>

#include "common/matrix.h"
#include "model/kernels/libtorch.h"

namespace attnscope {

struct PrincipalAxes {
  Matrix points;              // N×count: the centered rows, projected on the first axes
  std::vector<float> shares;  // min(N, D) fractions of the total variance, largest first; all 0 if it is 0
};

// Analyzes the rows of N×D, which must be finite. Each axis is oriented so that its largest component is positive. If
// there are fewer axes than `count`, or the rows differ only by rounding, the remaining coordinates are zero. Mean and
// axes are those of the rows `fitted` (int64; undefined: all); all rows are projected.
PrincipalAxes principal_axes(const torch::Tensor& rows, std::int64_t count, const torch::Tensor& fitted = {});

}  // namespace attnscope
