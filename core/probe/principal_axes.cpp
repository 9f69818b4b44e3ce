#include "probe/principal_axes.h"

#include <algorithm>

#include "probe/tensors.h"

namespace attnscope {

PrincipalAxes principal_axes(const torch::Tensor& rows, std::int64_t count) {
  const std::int64_t num_axes = std::min(rows.size(0), rows.size(1));
  const std::int64_t drawn = std::min(count, num_axes);
  torch::Tensor points = torch::zeros({rows.size(0), count});
  if (num_axes == 0) return {to_matrix(points), {}};
  const torch::Tensor centred = rows.detach().to(torch::kCPU, torch::kFloat32) - rows.detach().cpu().mean(0);  // N×D
  // By the covariance: N is large where this takes long, D is not.
  const auto [values, vectors] = torch::linalg_eigh(centred.t().mm(centred).to(torch::kFloat64));  // ascending
  const torch::Tensor variances = values.flip({0}).clamp_min(0).slice(0, 0, num_axes);
  torch::Tensor axes = vectors.flip({1}).slice(1, 0, drawn).to(torch::kFloat32);  // D×drawn
  const torch::Tensor largest = axes.gather(0, axes.abs().argmax(0, true));       // 1×drawn
  axes = axes * largest.sign();
  points.slice(1, 0, drawn).copy_(centred.mm(axes));
  const double total = variances.sum().item<double>();
  return {to_matrix(points), to_values(total > 0 ? variances / total : variances)};
}

}  // namespace attnscope
