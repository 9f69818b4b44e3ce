// The inside of one attention head, stage after stage (§3.2.1), computed in plain numbers from its queries, keys and
// values: what the window draws and explains cell by cell, and changes (scaling, mask) without asking the model.
#pragma once

#include <string>
#include <vector>

#include "plain/heads.h"
#include "plain/interventions.h"
#include "plain/matrix.h"

namespace attnscope {

// What the model gave of one head on one sentence. Q queries, K keys, d = D / H.
struct HeadInside {
  HeadPlace place;
  Matrix q;             // Q×d, RoPE's rotation done
  Matrix k;             // K×d
  Matrix v;             // K×d
  Matrix bias;          // Q×K added to the scaled scores (ALiBi, T5, Shaw's q·a^K / √d); empty: none
  Matrix relative_v;    // Shaw's a^V: row c + k is of the key c pieces after the query, farther ones than k clipped;
                        // empty: none
  bool scaled = true;   // scores divided by √d
  bool causal = false;  // keys after the query are masked
  Matrix heads_output;  // Q×D: all heads side by side, what W_O is given
  Matrix w_o;           // D×D, PyTorch's out_proj.weight: output = heads_output · w_oᵀ + b_o
  Matrix b_o;           // 1×D
  Matrix output;        // Q×D: what the sublayer gives
};

// True where a key must not be attended to.
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

// The mask the model has there: the look-ahead mask, or nothing.
CellMask model_mask(const HeadInside& head);

struct HeadStages {
  Matrix products;  // Q×K: q_i · k_j
  Matrix scores;    // Q×K: divided by √d (or not), with the bias
  Matrix masked;    // Q×K: −∞ where hidden
  Matrix weights;   // Q×K: softmax of each row; all 0 in a row that is hidden whole
  Matrix output;    // Q×d: weights · v, with Shaw's Σ_j w_ij a^V_ij
};

// With what `changes` do to this head: rows that are forced, and no output of a head that is off.
HeadStages head_stages(const HeadInside& head, bool scaled, const CellMask& mask, const Interventions& changes = {});

// The row of HeadInside::relative_v for a query and a key.
int relative_row(const Matrix& relative_v, int query, int key);

// heads_output with this head's columns replaced by `output`: Q×D.
Matrix side_by_side(const HeadInside& head, const Matrix& output);

// side_by_side through W_O, with b_O: Q×D.
Matrix projected(const HeadInside& head, const Matrix& output);

// −Σ w ln w of every row, and the largest entry |∂w_i/∂s_j| = w_i(δ_ij − w_j) of every row's softmax Jacobian: near 0
// where the softmax is saturated and nothing is learned (§3.2.1, footnote 4).
struct SoftmaxHealth {
  std::vector<float> entropies;
  std::vector<float> gradients;
};
SoftmaxHealth softmax_health(const Matrix& weights);

}  // namespace attnscope
