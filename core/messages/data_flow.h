// One box of the architecture diagram and its data flow on one sentence: each matrix with the operation that computed
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/matrix.h"
#include "config/flow_box.h"

namespace attnscope {

struct FlowWanted {
  FlowBox box;
  int layer = 0;
  int head = 0;
  int token = 0;             // whose most probable tokens are the columns of logits and probabilities
  bool convolution = false;  // the feed-forward as two convolutions with a kernel of 1
  bool operator==(const FlowWanted&) const = default;
};

// The operation that computed a matrix from its operands, which precede it.
enum class FlowOp {
  given,           // by the tokenizer, or by another box
  learned,         // a parameter; for a linear map the transpose of PyTorch's, so that x is on the left
  picked,          // rows of a parameter, by the ids that are operand 0
  scaled,          // operand 0 · factor
  sum,             // operand 0 + operand 1
  product,         // operand 0 · operand 1, + operand 2 (one row, broadcast) if there is one
  convolved,       // the same numbers, as a convolution with kernel size 1 over the tokens
  rotated,         // operand 0, in pairs of columns, by the rotations that are operand 1
  scores,          // operand 0 · operand 1ᵀ · factor, + operand 2 if there is one
  softmax,         // of every row of operand 0
  relu,            // max(0, operand 0)
  gelu,            // operand 0 · Φ(operand 0)
  gelu_by_tanh,    // GELU with Φ(x) as ½(1 + tanh(√(2/π)(x + 0.044715x³)))
  swish,           // operand 0 · σ(operand 0)
  times,           // operand 0 · operand 1, elementwise
  tanh,            // of operand 0
  moments,         // mean and √(variance + ε) of every row of operand 0; ε is the factor
  mean_square,     // √(mean of squares + ε) of every row of operand 0; ε is the factor
  rms_normalized,  // operand 0 / operand 1 · γ, the row of operand 2
  normalized,      // (operand 0 − μ) / σ · γ + β, with the moments of operand 1, γ and β the rows of operand 2
  spread,          // mean and √(variance + ε) of every column of operand 0, and the same of operand 1
  beside,          // operand 0 and operand 1, concatenated
  log_sum,         // ln Σ exp over the whole vocabulary, of every row
  share,           // exp(operand 0 − operand 1)
  at_distance,     // for query i and key j: operand 0, row i, at their distance j − i, clipped to the largest
  by_distance,     // the sums of every row of operand 0 by distance
};

struct FlowMatrix {
  std::string name;     // "q"
  std::string help;     // description, in one or two sentences
  std::string letters;  // "S×d"
  Matrix values = {};
  FlowOp op = FlowOp::given;
  std::vector<int> operands = {};  // indices into DataFlow::matrices
  float factor = 1;
  bool causal = false;                       // entries right of the diagonal are masked
  std::vector<std::string> row_labels = {};  // empty: numbers
  std::vector<std::string> col_labels = {};
  std::string section = {};  // heading of the section that starts here; empty: the previous one continues
};

struct DataFlow {
  FlowWanted asked;                       // limited to the layer, head and token that exist
  std::vector<FlowParameter> parameters;  // all parameters of the model
  std::int64_t vocab_size = 0;
  std::vector<FlowMatrix> matrices;  // in the order of computation
  std::string problem = {};          // why there are none, in one sentence
};

}  // namespace attnscope
