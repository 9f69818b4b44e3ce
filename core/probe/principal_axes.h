// Principal component analysis: the directions in which vectors differ most.
#pragma once

#include <vector>

#include "kernels/libtorch.h"
#include "plain/matrix.h"

namespace attnscope {

struct PrincipalAxes {
  Matrix points;              // N×count: the rows, less their mean, along the first axes
  std::vector<float> shares;  // of the whole variance, by axis: the largest first, min(N, D) of them; all 0 of none
};

// Of the rows of N×D; all of them are finite. An axis points to where its largest component is positive. Where there
// are fewer axes than `count`, or nothing differs by more than rounding, the rest of the points is zero.
PrincipalAxes principal_axes(const torch::Tensor& rows, std::int64_t count);

}  // namespace attnscope
