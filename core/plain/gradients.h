// How far a loss reaches back: the gradient of one written piece's −log p by everything that was read before it.
#pragma once

#include <string>
#include <vector>

#include "plain/matrix.h"

namespace attnscope {

struct GradientQuestion {
  std::string text;
  int output = -1;  // which of the pieces written; −1: the last that is more than a sign
  bool operator==(const GradientQuestion&) const = default;
};

// Euclidean norms of ∂L/∂x and ∂L/∂h, L = −log p of the chosen piece, those before it given. A state's gradient is all
// of it: through the later states too.
struct StackGradients {
  std::vector<std::string> tokens;  // that were read
  Matrix norms;  // (layers + 1) × pieces: ‖∂L/∂x‖ of what was embedded, then ‖∂L/∂h‖ a layer

  // Of a whole row, all pieces together: √Σ‖·‖².
  double of_layer(int row) const;
};

struct PassGradients {
  double loss = 0;         // −log p, nats
  StackGradients encoder;  // no pieces in a language model
  StackGradients decoder;  // no pieces in a classifier
};

struct GradientResult {
  GradientQuestion question;
  std::vector<std::string> written;  // which pieces can be chosen
  int output = 0;                    // which was
  std::string model;                 // "LSTM, Bahdanau", "Transformer"
  PassGradients plain;
  std::vector<PassGradients> bare;  // one of a Transformer: the same without residual connections
  std::string problem = {};         // why there is nothing, in one sentence
};

}  // namespace attnscope
