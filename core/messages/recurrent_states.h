// The internals of a recurrent layer on one sentence: gates and states per token, the attention over its states, and
// the initial vectors of decoding.
#pragma once

#include <string>
#include <vector>

#include "common/matrix.h"

namespace attnscope {

// The layer and direction; the nearest existing one is shown.
struct RecurrentWanted {
  bool decoder = false;
  int layer = 0;
  bool reverse = false;  // bidirectional encoder: the cell that reads from the end
  bool read_out = true;  // also computes RecurrentStates::read_out, which decodes once per source token
  bool operator==(const RecurrentWanted&) const = default;
};

// value = σ(from_input + from_state), or tanh for candidates (LSTM's g, an RNN's h). A GRU's n is tanh(from_input + r ·
// from_state).
struct CellGate {
  std::string name;    // "forget gate"
  std::string symbol;  // as in torch::nn
  Matrix from_input;   // L×H: W_i x + b_i
  Matrix from_state;   // L×H: W_h h + b_h, with the state before the token
  Matrix values;       // L×H
};

// The attention of a decoder's states to the source, step by step (1409.0473 A.1.2, 1508.04025 §3.1).
struct StateAttention {
  std::string score;     // the score function, as in model.attention
  Matrix states;         // T×D: the queries; Bahdanau's state before the token, Luong's after it
  Matrix memory;         // S×D: the encoder's states
  Matrix asked, keys;    // additive scores: W s (T×D) and U h (S×D); otherwise s, and its multiplicand
  std::vector<float> v;  // D: weights of tanh(W s + U h); empty: the score is a product
  Matrix energies;       // T×S, before the softmax
  Matrix weights;        // T×S
  Matrix contexts;       // T×D: the memory averaged with the weights
};

struct RecurrentStates {
  RecurrentWanted asked;            // limited to what exists
  int layers = 1, directions = 1;   // of that stack
  std::string cell;                 // "rnn", "lstm" or "gru"
  std::vector<std::string> tokens;  // L, in text order, for either direction
  std::vector<CellGate> gates;      // in the order of torch::nn
  Matrix h, c;                      // L×H: after each token; c only for an LSTM
  Matrix first_h, first_c;          // 1×H: before the first token that is read

  // One unit of the state before a token's step.
  float h_before(int token, int unit) const { return before(h, first_h, token, unit); }
  float c_before(int token, int unit) const { return before(c, first_c, token, unit); }

  std::vector<std::string> source;        // S tokens
  std::vector<std::string> written;       // T tokens
  std::vector<StateAttention> attention;  // of the decoder's top layer; empty without attention
  Matrix handed;                          // R×D: initial vectors of decoding
  std::vector<std::string> handed_names;  // "layer 1, h"
  // without attention: the outputs decoded from the vectors after the source's first 1, 2, … S tokens
  std::vector<std::string> read_out;

 private:
  float before(const Matrix& states, const Matrix& first, int token, int unit) const {
    const int earlier = asked.reverse ? token + 1 : token - 1;
    return earlier >= 0 && earlier < states.rows ? states.at(earlier, unit) : first.at(0, unit);
  }
};

}  // namespace attnscope
