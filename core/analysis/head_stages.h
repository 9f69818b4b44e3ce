// The computation of one attention head, stage by stage (§3.2.1), from its queries, keys and values. The window draws
// and explains it cell by cell, and changes scaling and mask without running the model.
#pragma once

#include <vector>

#include "common/matrix.h"
#include "messages/head_inside.h"
#include "messages/interventions.h"

namespace attnscope {

// True where a key is masked.
struct CellMask {
  int rows = 0;
  int cols = 0;
  std::vector<char> hidden;  // rows × cols

  CellMask() = default;
  CellMask(int rows_, int cols_) : rows(rows_), cols(cols_), hidden(static_cast<std::size_t>(rows_) * cols_, 0) {}
  bool at(int row, int col) const { return hidden[static_cast<std::size_t>(row) * cols + col] != 0; }
  void set(int row, int col, bool value) { hidden[static_cast<std::size_t>(row) * cols + col] = value ? 1 : 0; }
  bool operator==(const CellMask&) const = default;
};

// Masks every key after its query (§3.2.3).
CellMask look_ahead_mask(int rows, int cols);

// The model's own mask: the look-ahead mask and the window, or none.
CellMask model_mask(const HeadInside& head);

// The model's mask combined with the interventions' masks for this head.
CellMask mask_with(const HeadInside& head, const Interventions& interventions);

struct HeadStages {
  Matrix products;  // Q×K: q_i · k_j
  Matrix scores;    // Q×K: divided by √d if scaled, with the bias, and capped
  Matrix masked;    // Q×K: −∞ where hidden
  Matrix weights;   // Q×K: softmax of each row; all 0 in a fully masked row
  Matrix output;    // Q×d: weights · v, with Shaw's Σ_j w_ij a^V_ij
};

// Includes the effect of `interventions` on this head: forced rows, and no output if the head is off.
HeadStages head_stages(const HeadInside& head, bool scaled, const CellMask& mask,
                       const Interventions& interventions = {});

// The index of Shaw's vector, of 2k + 1 by distance, for a query and a key (1803.02155 §3.2).
int distance_row(int num_distances, int query, int key);

// Returns heads_output with this head's columns replaced by `output`: Q×D.
Matrix side_by_side(const HeadInside& head, const Matrix& output);

// Returns side_by_side multiplied by W_O, plus b_O: Q×D.
Matrix projected(const HeadInside& head, const Matrix& output);

// −Σ w ln w of every row, and the largest entry |∂w_i/∂s_j| = w_i(δ_ij − w_j) of its softmax Jacobian: near 0 if the
// softmax is saturated, so that gradients vanish (§3.2.1, footnote 4).
struct SoftmaxHealth {
  std::vector<float> entropies;
  std::vector<float> gradients;
};
SoftmaxHealth softmax_health(const Matrix& weights);

}  // namespace attnscope
