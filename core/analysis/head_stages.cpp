#include "analysis/head_stages.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/matrix_algebra.h"
#include "common/clamped.h"

namespace attnscope {
namespace {

void add(Matrix& to, const Matrix& what) {
  if (what.empty()) return;
  for (std::size_t i = 0; i < to.values.size(); ++i) to.values[i] += what.values[i];
}

void softmax_row(Matrix& scores, int row) {
  float* begin = scores.values.data() + static_cast<std::size_t>(row) * scores.cols;
  float* end = begin + scores.cols;
  const float largest = *std::max_element(begin, end);
  double sum = 0;
  for (float* at = begin; at != end; ++at) {
    *at = std::isinf(largest) ? 0 : std::exp(*at - largest);
    sum += static_cast<double>(*at);
  }
  if (sum == 0) return;  // fully masked
  for (float* at = begin; at != end; ++at) *at = static_cast<float>(static_cast<double>(*at) / sum);
}

// Σ_j w_ij a^V_ij (1803.02155, equation 3).
void add_relative_values(Matrix& output, const Matrix& weights, const Matrix& relative_v) {
  if (relative_v.empty()) return;
  for (int query = 0; query < weights.rows; ++query) {
    for (int key = 0; key < weights.cols; ++key) {
      const int row = distance_row(relative_v.rows, query, key);
      for (int col = 0; col < output.cols; ++col)
        output.at(query, col) += weights.at(query, key) * relative_v.at(row, col);
    }
  }
}

void force_rows(Matrix& weights, const HeadPlace& place, const std::vector<ForcedAttention>& forced) {
  for (const auto& [at, query, key] : forced) {
    if (at != place || query < 0 || key < 0 || query >= weights.rows || key >= weights.cols) continue;
    for (int col = 0; col < weights.cols; ++col) weights.at(query, col) = col == key ? 1.0F : 0.0F;
  }
}

}  // namespace

CellMask look_ahead_mask(int rows, int cols) {
  CellMask mask(rows, cols);
  for (int row = 0; row < rows; ++row)
    for (int col = row + 1; col < cols; ++col) mask.set(row, col, true);
  return mask;
}

CellMask model_mask(const HeadInside& head) {
  CellMask mask = head.causal ? look_ahead_mask(head.q.rows, head.k.rows) : CellMask(head.q.rows, head.k.rows);
  for (int row = 0; head.window > 0 && row < mask.rows; ++row)
    for (int col = 0; col < mask.cols; ++col)
      if (std::abs(row - col) >= head.window) mask.set(row, col, true);
  return mask;
}

CellMask mask_with(const HeadInside& head, const Interventions& interventions) {
  CellMask mask = model_mask(head);
  for (const HiddenKeys& hidden : interventions.hidden) {
    if (hidden.place != head.place) continue;
    for (const auto& [query, key] : hidden.cells)
      if (query < mask.rows && key < mask.cols) mask.set(query, key, true);
  }
  return mask;
}

HeadStages head_stages(const HeadInside& head, bool scaled, const CellMask& mask, const Interventions& interventions) {
  HeadStages stages;
  stages.products = product_transposed(head.q, head.k);
  stages.scores = stages.products;
  const float scale = scaled ? 1.0F / std::sqrt(head.scale_width()) : 1.0F;
  for (float& score : stages.scores.values) score *= scale;
  add(stages.scores, head.bias);
  for (float& score : stages.scores.values)
    if (head.score_cap > 0) score = head.score_cap * std::tanh(score / head.score_cap);
  stages.masked = stages.scores;
  for (std::size_t i = 0; i < mask.hidden.size(); ++i) {
    if (mask.hidden[i]) stages.masked.values[i] = -std::numeric_limits<float>::infinity();
  }
  stages.weights = stages.masked;
  for (int row = 0; row < stages.weights.rows && stages.weights.cols > 0; ++row) softmax_row(stages.weights, row);
  force_rows(stages.weights, head.place, interventions.forced);
  stages.output = product(stages.weights, head.v);
  add_relative_values(stages.output, stages.weights, head.relative_v);
  if (std::ranges::find(interventions.heads_off, head.place) != interventions.heads_off.end())
    std::ranges::fill(stages.output.values, 0.0F);
  return stages;
}

int distance_row(int num_distances, int query, int key) {
  const int farthest = num_distances / 2;
  return clamped(key - query, -farthest, farthest) + farthest;
}

Matrix side_by_side(const HeadInside& head, const Matrix& output) {
  Matrix heads = head.heads_output;
  const int first = head.place.head * output.cols;
  for (int row = 0; row < output.rows; ++row) {
    for (int col = 0; col < output.cols; ++col) heads.at(row, first + col) = output.at(row, col);
  }
  return heads;
}

Matrix projected(const HeadInside& head, const Matrix& output) {
  Matrix result = product_transposed(side_by_side(head, output), head.w_o);
  for (int row = 0; row < result.rows; ++row) {
    for (int col = 0; col < result.cols; ++col) result.at(row, col) += head.b_o.at(0, col);
  }
  return result;
}

SoftmaxHealth softmax_health(const Matrix& weights) {
  SoftmaxHealth health;
  for (int row = 0; row < weights.rows; ++row) {
    double entropy = 0;
    float gradient = 0;
    for (int col = 0; col < weights.cols; ++col) {
      const float w = weights.at(row, col);
      if (w > 0) entropy -= static_cast<double>(w) * std::log(static_cast<double>(w));
      gradient = std::max(gradient, w * (1 - w));  // no off-diagonal entry is larger
    }
    health.entropies.push_back(static_cast<float>(entropy));
    health.gradients.push_back(gradient);
  }
  return health;
}

}  // namespace attnscope
