#include "workspaces/attention/inside_stages.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace attnscope {
namespace {

Matrix transposed(const Matrix& matrix) {
  Matrix result(matrix.cols, matrix.rows);
  for (int row = 0; row < matrix.rows; ++row) {
    for (int col = 0; col < matrix.cols; ++col) result.at(col, row) = matrix.at(row, col);
  }
  return result;
}

float row_norm(const Matrix& matrix, int row) {
  double sum = 0;
  for (int col = 0; col < matrix.cols; ++col) sum += std::pow(static_cast<double>(matrix.at(row, col)), 2);
  return static_cast<float>(std::sqrt(sum));
}

std::vector<float> row_norms(const Matrix& matrix) {
  std::vector<float> norms;
  for (int row = 0; row < matrix.rows; ++row) norms.push_back(row_norm(matrix, row));
  return norms;
}

std::vector<float> row_distances(const Matrix& a, const Matrix& b) {
  Matrix difference = a;
  for (std::size_t i = 0; i < difference.values.size(); ++i) difference.values[i] -= b.values[i];
  return row_norms(difference);
}

constexpr int num_bins = 24;

// Widens low … high to hold every score that is not hidden.
void widen(float& low, float& high, const Matrix& scores) {
  for (const float score : scores.values) {
    if (std::isinf(score)) continue;
    low = std::min(low, score);
    high = std::max(high, score);
  }
}

float mean(const std::vector<float>& values) {
  if (values.empty()) return 0;
  return static_cast<float>(std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()));
}

Spread spread_of(const HeadStages& stages, float low, float high) {
  Spread spread;
  spread.histogram.resize(num_bins);
  for (const float score : stages.masked.values) {
    if (std::isinf(score)) continue;
    const float share = high > low ? (score - low) / (high - low) : 0.5F;
    ++spread.histogram[static_cast<std::size_t>(std::min(num_bins - 1, static_cast<int>(share * num_bins)))];
  }
  const SoftmaxHealth health = softmax_health(stages.weights);
  spread.mean_entropy = mean(health.entropies);
  spread.mean_gradient = mean(health.gradients);
  return spread;
}

void measure_spread(HeadNumbers& numbers) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  float low = infinity;
  float high = -infinity;
  widen(low, high, numbers.stages.masked);
  widen(low, high, numbers.rescaled.masked);
  if (low > high) low = high = 0;  // everything is hidden
  numbers.lowest = low;
  numbers.highest = high;
  numbers.spread = spread_of(numbers.stages, low, high);
  numbers.rescaled_spread = spread_of(numbers.rescaled, low, high);
}

// The index of a cell along an axis; −1 where the cell has none. A column of this head is one side by side, and back.
int along(const StageCell& cell, Axis axis, int first, int width) {
  const StageAxes axes = axes_of(cell.stage);
  for (const auto& [own, index] : {std::pair(axes.row, cell.row), std::pair(axes.col, cell.col)}) {
    if (own == axis) return index;
    if (own == Axis::d_v && axis == Axis::concat) return first + index;
    if (own == Axis::concat && axis == Axis::d_v && index >= first && index < first + width) return index - first;
  }
  return -1;
}

}  // namespace

StageAxes axes_of(Stage stage) {
  switch (stage) {
    case Stage::q:
      return {Axis::query, Axis::d_k};
    case Stage::k:
      return {Axis::key, Axis::d_k};
    case Stage::products:
    case Stage::bias:
    case Stage::scores:
    case Stage::masked:
    case Stage::weights:
      break;
    case Stage::v:
      return {Axis::key, Axis::d_v};
    case Stage::output:
      return {Axis::query, Axis::d_v};
    case Stage::heads:
      return {Axis::query, Axis::concat};
    case Stage::w_o:
      return {Axis::concat, Axis::d_model};
    case Stage::sublayer:
      return {Axis::query, Axis::d_model};
  }
  return {Axis::query, Axis::key};
}

Linked linked(const StageCell& pointed, Stage stage, int first, int width) {
  const StageAxes axes = axes_of(stage);
  return {along(pointed, axes.row, first, width), along(pointed, axes.col, first, width)};
}

const Matrix& HeadNumbers::of(Stage stage) const {
  switch (stage) {
    case Stage::q:
      return head().q;
    case Stage::k:
      return head().k;
    case Stage::products:
      return stages.products;
    case Stage::bias:
      return head().bias;
    case Stage::scores:
      return stages.scores;
    case Stage::masked:
      return masked;
    case Stage::weights:
      return stages.weights;
    case Stage::v:
      return head().v;
    case Stage::output:
      return stages.output;
    case Stage::heads:
      return heads;
    case Stage::w_o:
      return w_o;
    case Stage::sublayer:
      break;
  }
  return sublayer;
}

HeadNumbers head_numbers(std::shared_ptr<const Snapshot> snapshot, const CellMask& mask) {
  const HeadInside& head = *snapshot->inside;
  HeadNumbers numbers;
  numbers.mask = mask;
  numbers.what_if = mask != model_mask(head);
  numbers.stages = head_stages(head, head.scaled, mask, snapshot->changes);
  numbers.rescaled = head_stages(head, !head.scaled, mask, snapshot->changes);
  numbers.masked = numbers.stages.masked;
  for (std::size_t i = 0; i < mask.hidden.size(); ++i) {
    if (mask.hidden[i]) numbers.masked.values[i] = std::numeric_limits<float>::quiet_NaN();
  }
  numbers.heads = numbers.what_if ? side_by_side(head, numbers.stages.output) : head.heads_output;
  numbers.w_o = transposed(head.w_o);
  numbers.sublayer = numbers.what_if ? projected(head, numbers.stages.output) : head.output;
  numbers.change = row_distances(numbers.sublayer, head.output);
  numbers.norms = row_norms(head.output);
  measure_spread(numbers);
  numbers.snapshot = std::move(snapshot);
  return numbers;
}

const PositionScheme* biased_by(const HeadInside& head, const ModelConfig& model) {
  return head.bias.empty() ? nullptr : &position_scheme(model.positions);
}

const PositionScheme* rotated_by(const HeadInside& head, const ModelConfig& model) {
  const PositionScheme& scheme = position_scheme(model.positions);
  const bool rotated = scheme.form == PositionForm::rotation && head.place.part != AttentionPart::cross;
  return rotated ? &scheme : nullptr;
}

}  // namespace attnscope
