// The stages of one head (paper §3.2.1 and §3.2.2), the axes of each stage, and its numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/head_stages.h"
#include "config/position_schemes.h"
#include "messages/snapshot.h"

namespace attnscope {

enum class Stage { q, k, products, bias, scores, masked, weights, v, output, heads, w_o, sublayer };
inline constexpr std::size_t num_stages = static_cast<std::size_t>(Stage::sublayer) + 1;

// The index of a row or column of a stage. d_k and d_v are equal here, but index different numbers.
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

// The row and column of a stage from which a cell of another stage is computed, or to which it contributes; −1: all.
struct Linked {
  int row = -1;
  int col = -1;
  bool operator==(const Linked&) const = default;
};

// `first` is the first column of the head in the concatenation, `width` the number of its columns.
Linked linked(const StageCell& pointed, Stage stage, int first, int width);

// The spread of a head's scores and its effect on the softmax (§3.2.1, footnote 4).
struct Spread {
  std::vector<int> histogram;  // of the scores that are not masked, between HeadNumbers::lowest and highest
  float mean_entropy = 0;      // mean entropy of a row of weights, in nats
  float mean_gradient = 0;     // mean over the rows of the largest entry of the softmax's Jacobian; at most 1/4
};

// All numbers drawn for one head; recomputed only when the snapshot, the mask or the scaling changes.
struct HeadNumbers {
  std::uint64_t version = 0;                 // for textures
  std::shared_ptr<const Snapshot> snapshot;  // the snapshot whose `inside` was used; never null
  CellMask mask;                             // replaces the model's mask where they differ
  bool what_if = false;                      // the mask differs from the snapshot's
  HeadStages stages;                         // with that mask
  HeadStages rescaled;  // with the opposite scaling: divided by √d_k if the model does not divide, and vice versa
  Matrix masked;        // stages.masked with NaN instead of −∞
  Matrix heads;         // Q×D: concatenation of all heads, with this mask
  Matrix w_o;           // D×D as in the paper: output = heads · W_O + b_O
  Matrix sublayer;      // Q×D: the sublayer's output, with this mask
  float lowest = 0;     // over the scores that are not masked, with and without division
  float highest = 1;
  Spread spread;  // of `stages`
  Spread rescaled_spread;
  std::vector<float> change;  // per query: ‖sublayer − the model's output‖
  std::vector<float> norms;   // per query: ‖the model's output‖

  const HeadInside& head() const { return *snapshot->inside; }
  const Matrix& of(Stage stage) const;
};

// `snapshot` must have an `inside`.
HeadNumbers head_numbers(std::shared_ptr<const Snapshot> snapshot, const CellMask& mask);

// The position scheme that biases this head's scores, and the one that rotates its queries and keys; null: none.
const PositionScheme* biased_by(const HeadInside& head, const ModelConfig& model);
const PositionScheme* rotated_by(const HeadInside& head, const ModelConfig& model);

// ---- the arithmetic of each number

// Names of the tokens in the arithmetic.
struct HeadLabels {
  std::span<const std::string> queries;
  std::span<const std::string> keys;
};

// The arithmetic of one cell, ending with "= its value"; for a masked cell it ends with −∞.
std::string arithmetic(const HeadNumbers& numbers, const StageCell& cell, const HeadLabels& labels);

}  // namespace attnscope
