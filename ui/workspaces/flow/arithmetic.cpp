#include "workspaces/arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/head_stages.h"
#include "base/translation.h"
#include "workspaces/flow/flow.h"

namespace attnscope {
namespace {

// One cell of one matrix, and the operands it is computed from.
struct CellText {
  const DataFlow& flow;
  const FlowMatrix& matrix;
  int row;
  int col;

  const FlowMatrix& operand(std::size_t index) const {
    return flow.matrices[static_cast<std::size_t>(matrix.operands[index])];
  }
  bool has(std::size_t index) const { return index < matrix.operands.size(); }
  float value() const { return matrix.values.at(row, col); }
  std::string end() const { return "= " + short_number(value()); }
  // Operand `index` at the same cell.
  float same(std::size_t index) const { return operand(index).values.at(row, col); }
};

std::string product_text(const CellText& cell) {
  const FlowMatrix& x = cell.operand(0);
  const FlowMatrix& w = cell.operand(1);
  const ProductSum sum{x.values.cols, [&](int i) { return x.values.at(cell.row, i); },
                       [&](int i) { return w.values.at(i, cell.col); }};
  std::string text = fmt::format("Σ_i {}[i] · {}[i][{}]", x.name, w.name, cell.col);
  if (cell.has(2)) text += fmt::format(" + {}[{}]", cell.operand(2).name, cell.col);
  text += "\n= " + written(sum, in_order(sum.count));
  if (cell.has(2)) text += " + " + operand_text(cell.operand(2).values.at(0, cell.col));
  if (cell.matrix.op == FlowOp::convolved)
    text = tr("kernel ") + std::to_string(cell.col) + tr(" over one position: ") + text;
  return text + "\n" + cell.end();
}

std::string score_text(const CellText& cell) {
  const FlowMatrix& q = cell.operand(0);
  const FlowMatrix& k = cell.operand(1);
  const ProductSum sum{q.values.cols, [&](int i) { return q.values.at(cell.row, i); },
                       [&](int i) { return k.values.at(cell.col, i); }};
  std::string text = fmt::format("{}·{} = {}", q.name, k.name, written(sum, in_order(sum.count)));
  if (cell.matrix.factor != 1) text = fmt::format("({}) ÷ √{}", text, q.values.cols);
  if (cell.has(2)) text += fmt::format("\n+ {} ({})", operand_text(cell.same(2)), cell.operand(2).name);
  return text + "\n" + cell.end();
}

std::string softmax_text(const CellText& cell) {
  if (cell.matrix.causal && cell.col > cell.row) return tr("after the query: masked, exp(−∞) = 0");
  const Matrix& scores = cell.operand(0).values;
  const int visible = cell.matrix.causal ? cell.row + 1 : scores.cols;
  float largest = -std::numeric_limits<float>::infinity();
  for (int col = 0; col < visible; ++col) largest = std::max(largest, scores.at(cell.row, col));
  double sum = 0;
  for (int col = 0; col < visible; ++col) sum += std::exp(static_cast<double>(scores.at(cell.row, col) - largest));
  const float score = scores.at(cell.row, cell.col);
  return trf("exp({0} − {1}) ÷ Σ_j exp(s_j − {1}) = {2} ÷ {3}\n{4}", short_number(score), operand_text(largest),
             short_number(std::exp(score - largest)), short_number(static_cast<float>(sum)), cell.end());
}

std::string moment_text(const CellText& cell) {
  const char* formula = cell.col == 0 ? tr("Σ x ÷ {} over the token's own vector\n= {:.6f}")
                                      : tr("√(Σ (x − μ)² ÷ {} + 10⁻⁵) over the token's own vector\n= {:.6f}");
  return fmt::format(fmt::runtime(formula), cell.operand(0).values.cols, cell.value());
}

// Describes a column of the tokens' vectors, with or without padding after them.
std::string spread_text(const CellText& cell) {
  const Matrix& x = cell.operand(cell.row < 2 ? 0 : 1).values;
  const char* formula = cell.row % 2 == 0 ? "Σ x[{0}] ÷ {1}" : "√(Σ (x[{0}] − μ)² ÷ {1} + 10⁻⁵)";
  return fmt::format(fmt::runtime(formula), cell.col, x.rows) +
         trf(", over {} rows{}\n= {:.6f}", x.rows, cell.row < 2 ? "" : tr(", including padding"), cell.value());
}

std::string normalized_text(const CellText& cell) {
  const Matrix& moments = cell.operand(1).values;
  const Matrix& learned = cell.operand(2).values;
  return fmt::format("(x − μ) ÷ σ · γ + β\n= ({} − {}) ÷ {} · {} + {}\n= {:.6f}", short_number(cell.same(0)),
                     operand_text(moments.at(cell.row, 0)), short_number(moments.at(cell.row, 1)),
                     operand_text(learned.at(0, cell.col)), operand_text(learned.at(1, cell.col)), cell.value());
}

std::string rms_normalized_text(const CellText& cell) {
  return trf("x ÷ rms · γ\n= {} ÷ {} · {}\n= {:.6f}", short_number(cell.same(0)),
             short_number(cell.operand(1).values.at(cell.row, 0)), operand_text(cell.operand(2).values.at(0, cell.col)),
             cell.value());
}

std::string rotated_text(const CellText& cell) {
  const int even = cell.col - cell.col % 2;
  const Matrix& x = cell.operand(0).values;
  const Matrix& turns = cell.operand(1).values;
  const auto at = [&](const Matrix& of, int col) { return operand_text(of.at(cell.row, col)); };
  if (cell.col == even)
    return trf("x₀ cos − x₁ sin = {}·{} − {}·{}\n{}", at(x, even), at(turns, even), at(x, even + 1),
               at(turns, even + 1), cell.end());
  return trf("x₀ sin + x₁ cos = {}·{} + {}·{}\n{}", at(x, even), at(turns, even + 1), at(x, even + 1), at(turns, even),
             cell.end());
}

std::string at_distance_text(const CellText& cell) {
  const FlowMatrix& told = cell.operand(0);
  const int distance = distance_row(told.values.cols, cell.row, cell.col);
  return fmt::format("{} [{}, {}]\n{}", told.name, name_of(told.row_labels, cell.row),
                     name_of(told.col_labels, distance), cell.end());
}

std::string by_distance_text(const CellText& cell) {
  const FlowMatrix& weights = cell.operand(0);
  std::vector<int> keys;
  for (int key = 0; key < weights.values.cols; ++key)
    if (distance_row(cell.matrix.values.cols, cell.row, key) == cell.col) keys.push_back(key);
  if (keys.empty()) return tr("no key at this distance\n") + cell.end();
  std::string text;
  for (const int key : keys)
    text += (text.empty() ? "" : " + ") +
            fmt::format("{} ({})", short_number(weights.values.at(cell.row, key)), name_of(weights.col_labels, key));
  return text + "\n" + cell.end();
}

// For operations that use only the cells at the same position.
std::string elementwise_text(const CellText& cell) {
  const std::string a = short_number(cell.same(0));
  switch (cell.matrix.op) {
    case FlowOp::scaled:
      return fmt::format("{} · {}\n{}", a, short_number(cell.matrix.factor), cell.end());
    case FlowOp::sum:
      return fmt::format("{} + {} ({} + {})\n{}", a, operand_text(cell.same(1)), cell.operand(0).name,
                         cell.operand(1).name, cell.end());
    case FlowOp::times:
      return fmt::format("{} · {}\n{}", a, operand_text(cell.same(1)), cell.end());
    case FlowOp::gelu_by_tanh:
      return trf("x·½(1 + tanh(√(2/π)(x + 0.044715x³))), x = {}\n{}", a, cell.end());
    case FlowOp::swish:
      return fmt::format("{0} · σ({0})\n{1}", operand_text(cell.same(0)), cell.end());
    case FlowOp::relu:
      return trf("max(0, {})\n{}", a, cell.end());
    case FlowOp::gelu:
      return fmt::format("{0} · Φ({0})\n{1}", operand_text(cell.same(0)), cell.end());
    default:
      return trf("tanh({})\n{}", a, cell.end());
  }
}

std::string share_text(const CellText& cell) {
  const float sum = cell.operand(1).values.at(cell.row, 0);
  return trf("exp({} − {}) (logit − ln Σ exp)\n= {:.4g}", short_number(cell.same(0)), operand_text(sum), cell.value());
}

std::string text_of(const CellText& cell) {
  switch (cell.matrix.op) {
    case FlowOp::given:
      return tr("computed in another box, or from the text\n") + cell.end();
    case FlowOp::learned:
      return trf("learned\n= {:.6g}", cell.value());
    case FlowOp::picked:
      return trf("E[{}][{}], learned\n{}", static_cast<int>(cell.operand(0).values.at(cell.row, 0)), cell.col,
                 cell.end());
    case FlowOp::product:
    case FlowOp::convolved:
      return product_text(cell);
    case FlowOp::rotated:
      return rotated_text(cell);
    case FlowOp::scores:
      return cell.has(0) ? score_text(cell) : cell.end();
    case FlowOp::softmax:
      return softmax_text(cell);
    case FlowOp::moments:
      return moment_text(cell);
    case FlowOp::mean_square:
      return trf("√(mean of x² of the row + {:.0e})\n{}", cell.matrix.factor, cell.end());
    case FlowOp::rms_normalized:
      return rms_normalized_text(cell);
    case FlowOp::normalized:
      return normalized_text(cell);
    case FlowOp::spread:
      return spread_text(cell);
    case FlowOp::beside: {
      const int first = cell.operand(0).values.cols;
      const bool left = cell.col < first;
      return fmt::format("{}[{}]\n{}", cell.operand(left ? 0 : 1).name, left ? cell.col : cell.col - first, cell.end());
    }
    case FlowOp::log_sum:
      return tr("ln Σ exp(logit) over the whole vocabulary\n") + cell.end();
    case FlowOp::share:
      return share_text(cell);
    case FlowOp::at_distance:
      return at_distance_text(cell);
    case FlowOp::by_distance:
      return by_distance_text(cell);
    default:
      return elementwise_text(cell);
  }
}

std::string label_of_cell(const std::vector<std::string>& labels, int index) {
  return labels.empty() ? std::to_string(index) : name_of(labels, index);
}

}  // namespace

std::string flow_arithmetic(const DataFlow& flow, int matrix, int row, int col) {
  const FlowMatrix& shown = flow.matrices[static_cast<std::size_t>(matrix)];
  return fmt::format("{} [{}, {}]\n{}", shown.name, label_of_cell(shown.row_labels, row),
                     label_of_cell(shown.col_labels, col), text_of({flow, shown, row, col}));
}

}  // namespace attnscope
