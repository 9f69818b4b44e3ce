#include "inspect/probe/principal_axes.h"

#include <algorithm>
#include <cmath>

#include "inspect/probe/tensors.h"

namespace attnscope {
namespace {

constexpr double rounding = 1e-6;  // relative to the rows' norm: what centering leaves of equal rows

}  // namespace

PrincipalAxes principal_axes(const torch::Tensor& rows, std::int64_t count, const torch::Tensor& fitted) {
  const std::int64_t num_axes = std::min(fitted.defined() ? fitted.size(0) : rows.size(0), rows.size(1));
  const std::int64_t drawn = std::min(count, num_axes);
  torch::Tensor points = torch::zeros({rows.size(0), count});
  if (num_axes == 0) return {to_matrix(points), {}};
  const torch::Tensor all = rows.detach().to(torch::kCPU, torch::kFloat32);
  const torch::Tensor given = fitted.defined() ? all.index_select(0, fitted) : all;
  const torch::Tensor mean = given.mean(0), centred = given - mean;  // N×D
  // Via the covariance: in slow cases N is large, but not D.
  const auto [values, vectors] = torch::linalg_eigh(centred.t().mm(centred).to(torch::kFloat64));  // ascending
  const torch::Tensor variances = values.flip({0}).clamp_min(0).slice(0, 0, num_axes);
  const double total = variances.sum().item<double>();
  if (std::sqrt(total) <= rounding * given.norm().item<double>())
    return {to_matrix(points), std::vector<float>(static_cast<std::size_t>(num_axes))};
  torch::Tensor axes = vectors.flip({1}).slice(1, 0, drawn).to(torch::kFloat32);  // D×drawn
  const torch::Tensor largest = axes.gather(0, axes.abs().argmax(0, true));       // 1×drawn
  axes = axes * largest.sign();
  points.slice(1, 0, drawn).copy_((all - mean).mm(axes));
  return {to_matrix(points), to_values(variances / total)};
}

}  // namespace attnscope
