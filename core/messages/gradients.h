// Gradient reach: the gradient of one generated token's −log p with respect to every earlier input.
#pragma once

#include <string>
#include <vector>

#include "common/matrix.h"

namespace attnscope {

struct GradientQuestion {
  std::string text;
  int output = -1;  // index of the generated token; −1: the last one that is not punctuation
  bool operator==(const GradientQuestion&) const = default;
};

// Euclidean norms of ∂L/∂x and ∂L/∂h, L = −log p of the chosen token given the preceding ones. A state's gradient is
// the total one, including the path through later states.
struct StackGradients {
  std::vector<std::string> tokens;  // input tokens
  Matrix norms;  // (layers + 1) × tokens: ‖∂L/∂x‖ of the embeddings, then ‖∂L/∂h‖ per layer

  // The norm of a whole row over all tokens: √Σ‖·‖².
  double of_layer(int row) const;
};

struct PassGradients {
  double loss = 0;         // −log p, nats
  StackGradients encoder;  // no tokens in a language model
  StackGradients decoder;  // no tokens in a classifier
};

struct GradientResult {
  GradientQuestion question;
  std::vector<std::string> written;  // the tokens that can be chosen
  int output = 0;                    // the chosen one
  std::string model;                 // "LSTM, Bahdanau", "Transformer"
  PassGradients plain;
  std::vector<PassGradients> bare;  // one for a Transformer: the same without residual connections
  std::string problem = {};         // why there is no result, in one sentence
};

}  // namespace attnscope
