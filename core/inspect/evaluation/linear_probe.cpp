#include "inspect/evaluation/linear_probe.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "data/corpus/random.h"

namespace attnscope {
namespace {

constexpr std::int64_t folds = 5;
constexpr double ridge = 1e-2;  // of the mean variance of a standardized dimension, which is 1

// N×(D+1): standardized with the training rows, and a constant.
torch::Tensor standardized(const torch::Tensor& rows, const torch::Tensor& training) {
  const torch::Tensor mean = training.mean(0), deviation = training.std(0, false).clamp_min(1e-6);
  return torch::cat({(rows - mean) / deviation, torch::ones({rows.size(0), 1}, rows.options())}, 1);
}

// (XᵀX + λI)⁻¹ Xᵀ Y = Xᵀ (XXᵀ + λI)⁻¹ Y, whichever matrix is smaller.
torch::Tensor ridge_weights(const torch::Tensor& x, const torch::Tensor& y) {
  const bool wide = x.size(1) > x.size(0);
  const torch::Tensor gram = wide ? x.matmul(x.t()) : x.t().matmul(x);
  const torch::Tensor kept = gram + ridge * static_cast<double>(x.size(0)) * torch::eye(gram.size(0), x.options());
  return wide ? x.t().matmul(torch::linalg_solve(kept, y)) : torch::linalg_solve(kept, x.t().matmul(y));
}

torch::Tensor to_int64(std::span<const int> labels) {
  return torch::tensor(std::vector<std::int64_t>(labels.begin(), labels.end()));
}

// The accuracy for each of two columns of labels, int64 N×2, of which the second is a control.
ProbeScore held_out_accuracy(const torch::Tensor& rows, const torch::Tensor& labels, int classes) {
  const torch::Tensor fold = torch::arange(rows.size(0)).remainder(folds);
  torch::Tensor right = torch::zeros({2}, torch::kFloat64);
  for (std::int64_t k = 0; k < folds; ++k) {
    const torch::Tensor held = fold.eq(k).nonzero().squeeze(1), used = fold.ne(k).nonzero().squeeze(1);
    const torch::Tensor training = rows.index_select(0, used);
    const torch::Tensor x = standardized(training, training),
                        other = standardized(rows.index_select(0, held), training);
    const torch::Tensor y = torch::one_hot(labels.index_select(0, used), classes).flatten(1).to(torch::kFloat64);
    const torch::Tensor scores = other.matmul(ridge_weights(x, y));
    right += scores.unflatten(1, {2, classes}).argmax(2).eq(labels.index_select(0, held)).sum(0);
  }
  right /= static_cast<double>(rows.size(0));
  return {right[0].item<double>(), right[1].item<double>()};
}

// The same permutation every time.
std::vector<std::int64_t> shuffled(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  Random random(1);
  random.shuffle(order);
  return order;
}

}  // namespace

ProbeScore linear_probe(const torch::Tensor& rows, std::span<const int> labels, int classes,
                        std::span<const int> types) {
  const torch::NoGradGuard no_gradients;
  if (rows.size(0) < folds || classes < 2) return {};
  // Sentences of one group stand together, so their order is shuffled before it is cut into folds.
  const torch::Tensor order = torch::tensor(shuffled(rows.size(0)));
  const torch::Tensor given = to_int64(labels), shuffled_labels = given.index_select(0, order);
  // A type gets the shuffled label of its first row.
  std::map<int, std::int64_t> first;
  std::vector<std::int64_t> controls;
  for (std::size_t i = 0; i < types.size(); ++i)
    controls.push_back(first.emplace(types[i], static_cast<std::int64_t>(i)).first->second);
  const torch::Tensor control =
      types.empty() ? given : shuffled_labels.index_select(0, torch::tensor(controls)).index_select(0, order);
  const torch::Tensor x = rows.to(torch::kCPU, torch::kFloat64).index_select(0, order);
  return held_out_accuracy(x, torch::stack({shuffled_labels, control}, 1), classes);
}

torch::Tensor probe_directions(const torch::Tensor& rows, std::span<const int> labels, int classes) {
  const torch::NoGradGuard no_gradients;
  const torch::Tensor x = rows.to(torch::kCPU, torch::kFloat64), y = torch::one_hot(to_int64(labels), classes).to(x);
  const torch::Tensor weights = ridge_weights(standardized(x, x), y).slice(0, 0, x.size(1)).t();  // C×D
  const torch::Tensor read = weights / x.std(0, false).clamp_min(1e-6);
  const torch::Tensor unit = read / read.norm(2, 1, true).clamp_min(1e-12);
  const torch::Tensor count = y.sum(0).unsqueeze(1), sum = y.t().matmul(x);
  const torch::Tensor others = (x.sum(0) - sum) / (static_cast<double>(x.size(0)) - count).clamp_min(1);
  const torch::Tensor apart = sum / count.clamp_min(1) - others;
  return unit * (unit * apart).sum(1, true);
}

}  // namespace attnscope
