// Recurrent cells with explicit gates, and stacks of them. Parameters are named and shaped as in torch::nn::RNN (tanh),
// LSTM and GRU, so state_dicts can be exchanged.
//
// Shape letters in addition to model.h's: L length, I input width, H width of the state, G gates (1 in an RNN, 4 in an
// LSTM, 3 in a GRU). Time is the first dimension here because tokens are processed one after the other.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "model/kernels/libtorch.h"

namespace attnscope {

enum class CellKind { rnn, lstm, gru };

// Converts the value of model.cell: "rnn", "lstm" or "gru".
CellKind cell_kind(std::string_view name);

// The recurrent state between two tokens.
struct CellState {
  torch::Tensor h;  // B×H, also the output
  torch::Tensor c;  // B×H, LSTM only: the memory cell
};

// Called with the state after a token, before anything uses it; the returned state replaces it. direction: 1 for the
// cell that runs from the end; token: index in text order.
using StateHook =
    std::function<CellState(std::int64_t layer, std::int64_t direction, std::int64_t token, CellState state)>;

// Flattens states layer by layer: h and, in an LSTM, c.
std::vector<torch::Tensor> tensors_of(const std::vector<CellState>& states);
std::vector<CellState> states_of(CellKind kind, const std::vector<torch::Tensor>& tensors);

// One direction of one layer.
struct Cell {
  CellKind kind = CellKind::rnn;
  torch::Tensor weight_ih;  // GH×I
  torch::Tensor weight_hh;  // GH×H
  torch::Tensor bias_ih;    // GH
  torch::Tensor bias_hh;    // GH

  // W_ih x + b_ih: …×I → …×GH. Independent of the state, so it is computed for all tokens at once.
  torch::Tensor from_input(const torch::Tensor& x) const;

  // Processes one token; from_input: B×GH.
  CellState next(const torch::Tensor& from_input, const CellState& before) const;
};

// A stack of layers. A bidirectional stack has two cells per layer, one of which runs from the end; outputs and states
// of both are concatenated.
class RecurrentStackImpl : public torch::nn::Module {
 public:
  // width: of outputs and states; each cell of a bidirectional stack has half of it.
  RecurrentStackImpl(CellKind kind, std::int64_t input_width, std::int64_t width, std::int64_t num_layers,
                     bool bidirectional);

  // All zeros, one state per layer.
  std::vector<CellState> initial_states(std::int64_t batch_size) const;

  // x: L×B×I → the top layer's outputs, L×B×width. `states` (one per layer) holds the states before the first token on
  // entry and those after the last token on return. padding: bool L×B, true where the state is carried over unchanged,
  // so that the reverse direction starts at the last real token; or undefined. Dropout applies between layers, only in
  // training. `kept`, if not null, receives every cell's state after each token; see Inspection::encoder_cells.
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& padding, std::vector<CellState>& states, double dropout,
                        std::vector<std::vector<CellState>>* kept = nullptr, const StateHook& after = {});

  // Runs one token through all layers of a unidirectional stack; from_input: B×GH, the first cell's Cell::from_input.
  // token: its position in the text, passed to `after`.
  void step(const torch::Tensor& from_input, std::vector<CellState>& states, double dropout, std::int64_t token,
            const StateHook& after = {});

  const Cell& first_cell() const { return cells_.front(); }

 private:
  Cell make_cell(const std::string& suffix, std::int64_t input_width, std::int64_t hidden);

  CellKind kind_;
  std::int64_t width_, num_layers_;
  std::int64_t num_directions_;
  std::vector<Cell> cells_;  // layer by layer, forward before reverse
};
TORCH_MODULE(RecurrentStack);

}  // namespace attnscope
