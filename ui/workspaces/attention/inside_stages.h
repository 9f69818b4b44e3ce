// The stages of one head (paper §3.2.1 and §3.2.2), what their rows and columns are, and the numbers of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/head_stages.h"
#include "plain/position_schemes.h"
#include "plain/snapshot.h"

namespace attnscope {

enum class Stage { q, k, products, bias, scores, masked, weights, v, output, heads, w_o, sublayer };
inline constexpr std::size_t num_stages = static_cast<std::size_t>(Stage::sublayer) + 1;

// What a row or a column of a stage counts. d_k and d_v are equal here, but not the same numbers.
enum class Axis { query, key, d_k, d_v, concat, d_model };

struct StageAxes {
  Axis row;
  Axis col;
};

StageAxes axes_of(Stage stage);

struct StageCell {
  Stage stage = Stage::q;
  int row = 0;
  int col = 0;
  bool operator==(const StageCell&) const = default;
};

// The row and the column of a stage that a cell of another one was made from, or is used for; −1: all of them.
struct Linked {
  int row = -1;
  int col = -1;
  bool operator==(const Linked&) const = default;
};

// `first` is the head's first column side by side with the others, `width` how many it has.
Linked linked(const StageCell& pointed, Stage stage, int first, int width);

// How far a head's scores lie apart and what the softmax makes of it (§3.2.1, footnote 4).
struct Spread {
  std::vector<int> histogram;  // of the scores that are not hidden, between HeadNumbers::lowest and highest
  float mean_entropy = 0;      // of a row of weights, in nats
  float mean_gradient = 0;     // over the rows: the largest entry of the softmax's Jacobian, at most 1/4
};

// Everything drawn of one head, made anew only when the look, the mask or the scaling is another.
struct HeadNumbers {
  std::uint64_t version = 0;                 // of the textures
  std::shared_ptr<const Snapshot> snapshot;  // whose `inside` it was made from; never null
  CellMask mask;                             // instead of the model's, where they differ
  bool what_if = false;                      // the mask is another one than in the look
  HeadStages stages;                         // with that mask
  HeadStages rescaled;  // the same, divided by √d_k where the model does not, or not where it does
  Matrix masked;        // stages.masked with NaN instead of −∞
  Matrix heads;         // Q×D: all heads side by side, with this mask
  Matrix w_o;           // D×D as in the paper: output = heads · W_O + b_O
  Matrix sublayer;      // Q×D: the sublayer's output, with this mask
  float lowest = 0;     // of the scores that are not hidden, divided or not
  float highest = 1;
  Spread spread;  // of `stages`
  Spread rescaled_spread;
  std::vector<float> change;  // of each query: ‖sublayer − the model's‖
  std::vector<float> norms;   // of each query: ‖the model's‖

  const HeadInside& head() const { return *snapshot->inside; }
  const Matrix& of(Stage stage) const;
};

// `snapshot` has an inside.
HeadNumbers head_numbers(std::shared_ptr<const Snapshot> snapshot, const CellMask& mask);

// The scheme that adds to this head's scores, and the one that rotates its queries and keys; null: none does.
const PositionScheme* biased_by(const HeadInside& head, const ModelConfig& model);
const PositionScheme* rotated_by(const HeadInside& head, const ModelConfig& model);

// ---- the arithmetic of each number, written out

// What names the pieces in the arithmetic.
struct HeadLabels {
  std::span<const std::string> queries;
  std::span<const std::string> keys;
};

// The arithmetic of one cell, ending with "= its value"; a cell that was hidden ends with −∞ instead.
std::string arithmetic(const HeadNumbers& numbers, const StageCell& cell, const HeadLabels& labels);

}  // namespace attnscope
