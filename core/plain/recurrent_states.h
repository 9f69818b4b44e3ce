// A layer of a recurrent network from the inside, on one sentence: its gates and states piece by piece, what its
// attention makes of them, and the vectors that decoding begins with.
#pragma once

#include <string>
#include <vector>

#include "plain/matrix.h"

namespace attnscope {

// Which layer, read in which direction; the nearest there is is shown.
struct RecurrentWanted {
  bool decoder = false;
  int layer = 0;
  bool reverse = false;  // of a bidirectional encoder: the cell that reads from the end
  bool operator==(const RecurrentWanted&) const = default;
};

// value = σ(from_input + from_state), or tanh of it for what is written (LSTM's g, an RNN's h). A GRU's n is
// tanh(from_input + r · from_state).
struct CellGate {
  std::string name;    // "forget gate"
  std::string symbol;  // "f", as in torch::nn
  Matrix from_input;   // L×H: W_i x + b_i
  Matrix from_state;   // L×H: W_h h + b_h, of the state before the piece
  Matrix values;       // L×H
};

// How a decoder's states look at the source, step by step (1409.0473 A.1.2, 1508.04025 §3.1).
struct StateAttention {
  std::string score;     // as model.attention has it
  Matrix states;         // T×D: who asks; Bahdanau's before the piece, Luong's after it
  Matrix memory;         // S×D: the encoder's states
  Matrix asked, keys;    // W s (T×D) and U h (S×D) of additive scores; else s, and what it is multiplied with
  std::vector<float> v;  // D: weighs tanh(W s + U h); empty: the score is a product
  Matrix energies;       // T×S, before the softmax
  Matrix weights;        // T×S
  Matrix contexts;       // T×D: the memory, mixed by the weights
};

struct RecurrentStates {
  RecurrentWanted asked;            // with what there is
  int layers = 1, directions = 1;   // of that stack
  std::string cell;                 // "rnn", "lstm" or "gru"
  std::vector<std::string> tokens;  // L, in the order of the text, whatever the direction
  std::vector<CellGate> gates;      // in the order of torch::nn
  Matrix h, c;                      // L×H: after each piece; c of an LSTM alone
  Matrix first_h, first_c;          // 1×H: before the first piece that is read

  // The state that the step at a piece began with, one unit of it.
  float h_before(int token, int unit) const { return before(h, first_h, token, unit); }
  float c_before(int token, int unit) const { return before(c, first_c, token, unit); }

  std::vector<std::string> source;        // S pieces
  std::vector<std::string> written;       // T pieces
  std::vector<StateAttention> attention;  // of the decoder's top layer; empty without attention
  Matrix handed;                          // R×D: what decoding begins with
  std::vector<std::string> handed_names;  // "layer 1, h"
  std::vector<std::string> read_out;      // without attention: what is written of the source's first 1, 2, … S
                                          // pieces, from the vectors that they leave

 private:
  float before(const Matrix& states, const Matrix& first, int token, int unit) const {
    const int earlier = asked.reverse ? token + 1 : token - 1;
    return earlier >= 0 && earlier < states.rows ? states.at(earlier, unit) : first.at(0, unit);
  }
};

}  // namespace attnscope
