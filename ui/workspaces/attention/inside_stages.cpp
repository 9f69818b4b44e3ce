#include "workspaces/attention/inside_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "analysis/matrix_algebra.h"
#include "base/translation.h"
#include "messages/snapshot.h"
#include "workspaces/arithmetic.h"

namespace attnscope {
namespace {

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

// Widens low … high to include every score that is not masked. A model that has diverged has scores that are NaN.
void widen(float& low, float& high, const Matrix& scores) {
  for (const float score : scores.values) {
    if (!std::isfinite(score)) continue;
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
    if (!std::isfinite(score)) continue;
    const double range = double{high} - low, share = range > 0 ? (double{score} - low) / range : 0.5;  // never infinite
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
  if (low > high) low = high = 0;  // everything is masked
  numbers.lowest = low;
  numbers.highest = high;
  numbers.spread = spread_of(numbers.stages, low, high);
  numbers.rescaled_spread = spread_of(numbers.rescaled, low, high);
}

// The index of a cell along an axis; −1 if the cell has none. Converts between this head's columns and those of the
// concatenation.
int along(const StageCell& cell, Axis axis, int first, int width) {
  const StageAxes axes = axes_of(cell.stage);
  for (const auto& [own, index] : {std::pair(axes.row, cell.row), std::pair(axes.col, cell.col)}) {
    if (own == axis) return index;
    if (own == Axis::d_v && axis == Axis::concat) return first + index;
    if (own == Axis::concat && axis == Axis::d_v && index >= first && index < first + width) return index - first;
  }
  return -1;
}

// Same order as Stage.
constexpr std::array<StageAxes, num_stages> stage_axes = {{
    {Axis::query, Axis::d_k},
    {Axis::key, Axis::d_k},
    {Axis::query, Axis::key},  // products, bias, scores, masked, weights
    {Axis::query, Axis::key},
    {Axis::query, Axis::key},
    {Axis::query, Axis::key},
    {Axis::query, Axis::key},
    {Axis::key, Axis::d_v},
    {Axis::query, Axis::d_v},
    {Axis::query, Axis::concat},
    {Axis::concat, Axis::d_model},
    {Axis::query, Axis::d_model},
}};

// ---- the arithmetic of each number

std::string product_text(const HeadNumbers& numbers, const StageCell& cell, const HeadLabels& labels) {
  const HeadInside& head = numbers.head();
  const ProductSum sum{head.q.cols, [&](int i) { return head.q.at(cell.row, i); },
                       [&](int i) { return head.k.at(cell.col, i); }};
  return fmt::format("q({}) · k({}) = Σ q_d k_d\n= {}\n= {}", name_of(labels.queries, cell.row),
                     name_of(labels.keys, cell.col), written(sum, in_order(sum.count)),
                     short_number(numbers.stages.products.at(cell.row, cell.col)));
}

std::string bias_text(const HeadNumbers& numbers, const StageCell& cell) {
  const HeadInside& head = numbers.head();
  const PositionScheme& scheme = *biased_by(head, numbers.snapshot->model);
  const bool divided = scheme.form == PositionForm::vectors && head.scaled;
  return fmt::format("{}: {}{}\n= {}", scheme.label, fmt::format(fmt::runtime(scheme.term), cell.col - cell.row),
                     divided ? ", ÷ √d_k" : "", short_number(head.bias.at(cell.row, cell.col)));
}

std::string score_text(const HeadNumbers& numbers, const StageCell& cell) {
  const HeadInside& head = numbers.head();
  const std::string product = short_number(numbers.stages.products.at(cell.row, cell.col));
  std::string text =
      head.scaled ? fmt::format("{} ÷ √{:g}", product, head.scale_width()) : product + tr(" (not scaled)");
  if (const PositionScheme* scheme = biased_by(head, numbers.snapshot->model))
    text += fmt::format(" + {} ({})", operand_text(head.bias.at(cell.row, cell.col)), scheme->label);
  if (head.score_cap > 0) text = fmt::format("{0:g} · tanh(({1}) ÷ {0:g})", head.score_cap, text);
  return text + " = " + short_number(numbers.stages.scores.at(cell.row, cell.col));
}

std::string masked_text(const HeadNumbers& numbers, const StageCell& cell) {
  const std::string score = short_number(numbers.stages.scores.at(cell.row, cell.col));
  if (numbers.mask.at(cell.row, cell.col)) return score + tr(" + (−∞) = −∞\nmasked: its weight is 0");
  return score + " + 0 = " + score;
}

bool is_forced(const HeadNumbers& numbers, int row) {
  const auto& forced = numbers.snapshot->interventions.forced;
  return std::ranges::any_of(forced, [&](const ForcedAttention& it) {
    return it.place == numbers.head().place && it.query == row && it.key < numbers.stages.weights.cols;
  });
}

std::string weight_text(const HeadNumbers& numbers, const StageCell& cell) {
  const std::string weight = short_number(numbers.stages.weights.at(cell.row, cell.col));
  if (is_forced(numbers, cell.row)) return tr("forced, independent of the scores = ") + weight;
  const Matrix& scores = numbers.stages.masked;
  float largest = -std::numeric_limits<float>::infinity();
  for (int col = 0; col < scores.cols; ++col) largest = std::max(largest, scores.at(cell.row, col));
  if (std::isinf(largest)) return tr("all keys of this row are masked, so there is no weight = ") + weight;
  double sum = 0;
  for (int col = 0; col < scores.cols; ++col) sum += std::exp(static_cast<double>(scores.at(cell.row, col) - largest));
  const float score = scores.at(cell.row, cell.col);
  if (std::isinf(score)) return trf("exp(−∞) ÷ Σ = 0 ÷ {} = {}", short_number(static_cast<float>(sum)), weight);
  return trf("exp({0} − {1}) ÷ Σ_j exp(s_j − {1})\n= {2} ÷ {3}\n= {4}", short_number(score), operand_text(largest),
             short_number(std::exp(score - largest)), short_number(static_cast<float>(sum)), weight);
}

// Key indices by descending weight.
std::vector<int> by_weight(const Matrix& weights, int row) {
  std::vector<int> order = in_order(weights.cols);
  std::ranges::stable_sort(order, [&](int a, int b) { return weights.at(row, a) > weights.at(row, b); });
  return order;
}

std::string output_text(const HeadNumbers& numbers, const StageCell& cell, const HeadLabels& labels) {
  const HeadInside& head = numbers.head();
  const Matrix& weights = numbers.stages.weights;
  const std::string value = short_number(numbers.stages.output.at(cell.row, cell.col));
  if (std::ranges::find(numbers.snapshot->interventions.heads_off, head.place) !=
      numbers.snapshot->interventions.heads_off.end())
    return tr("this head is ablated = ") + value;
  const ProductSum sum{weights.cols, [&](int key) { return weights.at(cell.row, key); },
                       [&](int key) {
                         const float value_of_key = head.v.at(key, cell.col);
                         if (head.relative_v.empty()) return value_of_key;
                         return value_of_key +
                                head.relative_v.at(distance_row(head.relative_v.rows, cell.row, key), cell.col);
                       }};
  const std::string written_sum =
      written(sum, by_weight(weights, cell.row), [&](int key) { return name_of(labels.keys, key); });
  return fmt::format("Σ_j w_j {}[{}]\n= {}\n= {}", head.relative_v.empty() ? "v_j" : tr("(v_j + a^V of the distance)"),
                     cell.col, written_sum, value);
}

std::string heads_text(const HeadNumbers& numbers, const StageCell& cell) {
  const int width = numbers.head().q.cols;
  const int head = cell.col / width;
  return trf("head {}{}, component {} of {}\n= {}", head + 1,
             head == numbers.head().place.head ? tr(" (this one)") : "", cell.col % width, width,
             short_number(numbers.heads.at(cell.row, cell.col)));
}

std::string sublayer_text(const HeadNumbers& numbers, const StageCell& cell) {
  const HeadInside& head = numbers.head();
  const ProductSum sum{numbers.heads.cols, [&](int c) { return numbers.heads.at(cell.row, c); },
                       [&](int c) { return numbers.w_o.at(c, cell.col); }};
  return trf("Σ_c heads[c]·W_O[c][{0}] + b_O[{0}]\n= {1} + {2} (b_O)\n= {3}", cell.col,
             written(sum, in_order(sum.count)), operand_text(head.b_o.at(0, cell.col)),
             short_number(numbers.sublayer.at(cell.row, cell.col)));
}

// A number that is an input here: a projection of the layer's input, or a parameter.
std::string given_text(const HeadNumbers& numbers, const StageCell& cell, const HeadLabels& labels) {
  const std::string value = short_number(numbers.of(cell.stage).at(cell.row, cell.col));
  const PositionScheme* rotation = rotated_by(numbers.head(), numbers.snapshot->model);
  const std::string rotated = rotation ? trf(", rotated by {}", rotation->label) : "";
  switch (cell.stage) {
    case Stage::q:
      return trf("q({})[{}], component {} of x·W_Q + b_Q{}\n= {}", name_of(labels.queries, cell.row), cell.col,
                 cell.col, rotated, value);
    case Stage::k:
      return trf("k({})[{}], component {} of x·W_K + b_K{}\n= {}", name_of(labels.keys, cell.row), cell.col, cell.col,
                 rotated, value);
    case Stage::v:
      return trf("v({})[{}], component {} of x·W_V + b_V\n= {}", name_of(labels.keys, cell.row), cell.col, cell.col,
                 value);
    default:
      return trf("W_O[{}][{}], learned\n= {}", cell.row, cell.col, value);
  }
}

}  // namespace

StageAxes axes_of(Stage stage) {
  return stage_axes[static_cast<std::size_t>(stage)];
}

Linked linked(const StageCell& pointed, Stage stage, int first, int width) {
  const StageAxes axes = axes_of(stage);
  return {along(pointed, axes.row, first, width), along(pointed, axes.col, first, width)};
}

const Matrix& HeadNumbers::of(Stage stage) const {
  const std::array<const Matrix*, num_stages> all = {
      &head().q,       &head().k, &stages.products, &head().bias, &stages.scores, &masked,
      &stages.weights, &head().v, &stages.output,   &heads,       &w_o,           &sublayer};
  return *all[static_cast<std::size_t>(stage)];
}

HeadNumbers head_numbers(std::shared_ptr<const Snapshot> snapshot, const CellMask& mask) {
  const HeadInside& head = *snapshot->inside;
  HeadNumbers numbers;
  numbers.mask = mask;
  numbers.what_if = mask != mask_with(head, snapshot->interventions);
  numbers.stages = head_stages(head, head.scaled, mask, snapshot->interventions);
  numbers.rescaled = head_stages(head, !head.scaled, mask, snapshot->interventions);
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

// ---- the arithmetic of each number

std::string arithmetic(const HeadNumbers& numbers, const StageCell& cell, const HeadLabels& labels) {
  switch (cell.stage) {
    case Stage::products:
      return product_text(numbers, cell, labels);
    case Stage::bias:
      return bias_text(numbers, cell);
    case Stage::scores:
      return score_text(numbers, cell);
    case Stage::masked:
      return masked_text(numbers, cell);
    case Stage::weights:
      return weight_text(numbers, cell);
    case Stage::output:
      return output_text(numbers, cell, labels);
    case Stage::heads:
      return heads_text(numbers, cell);
    case Stage::sublayer:
      return sublayer_text(numbers, cell);
    case Stage::q:
    case Stage::k:
    case Stage::v:
    case Stage::w_o:
      break;
  }
  return given_text(numbers, cell, labels);
}

}  // namespace attnscope
