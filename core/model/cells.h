// Recurrent cells, written out gate by gate, and stacks of them. Parameters are named and shaped as those of
// torch::nn::RNN (tanh), LSTM and GRU, so state_dicts can be exchanged.
//
// Shape letters besides model.h's: L length, I input width, H width of the state, G gates (1 in an RNN, 4 in an LSTM,
// 3 in a GRU). Time comes first here: the tokens are taken one after the other.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "kernels/libtorch.h"

namespace attnscope {

enum class CellKind { rnn, lstm, gru };

// "rnn", "lstm" or "gru", as model.cell has it.
CellKind cell_kind(std::string_view name);

// What is carried from token to token.
struct CellState {
  torch::Tensor h;  // B×H, the output too
  torch::Tensor c;  // B×H, LSTM only: the memory cell
};

// Given the state after a token as soon as it is there, before anything reads it: what it returns goes on in its place.
// direction: 1 of the cell that reads from the end; token: in the order of the text.
using StateHook =
    std::function<CellState(std::int64_t layer, std::int64_t direction, std::int64_t token, CellState state)>;

// States as tensors in a row, layer after layer: h and, in an LSTM, c.
std::vector<torch::Tensor> tensors_of(const std::vector<CellState>& states);
std::vector<CellState> states_of(CellKind kind, const std::vector<torch::Tensor>& tensors);

// One layer in one direction.
struct Cell {
  CellKind kind = CellKind::rnn;
  torch::Tensor weight_ih;  // GH×I
  torch::Tensor weight_hh;  // GH×H
  torch::Tensor bias_ih;    // GH
  torch::Tensor bias_hh;    // GH

  // W_ih x + b_ih: …×I → …×GH. Asks for no state, so it is computed for all tokens at once.
  torch::Tensor from_input(const torch::Tensor& x) const;

  // One token; from_input: B×GH.
  CellState next(const torch::Tensor& from_input, const CellState& before) const;
};

// Layers, each reading the outputs of the one below. A bidirectional stack has two cells a layer, one reading from the
// end; outputs and states are then both cells', side by side.
class RecurrentStackImpl : public torch::nn::Module {
 public:
  // width: of outputs and states; a bidirectional stack's cells have half of it each.
  RecurrentStackImpl(CellKind kind, std::int64_t input_width, std::int64_t width, std::int64_t num_layers,
                     bool bidirectional);

  // All zeros, one a layer.
  std::vector<CellState> initial_states(std::int64_t batch_size) const;

  // x: L×B×I → the top layer's outputs, L×B×width. `states` (one a layer) go in as they are before the first token and
  // come out as they are after the last. padding: bool L×B, true where the state is to be carried on unchanged, so that
  // reading from the end begins at the last real token; or undefined. Dropout is between layers, while training.
  // `kept`, where given, becomes every cell's state after each token; see Inspection::encoder_cells.
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& padding, std::vector<CellState>& states, double dropout,
                        std::vector<std::vector<CellState>>* kept = nullptr, const StateHook& after = {});

  // One token through all layers of a stack that reads one way; from_input: B×GH, what the first cell makes of it.
  // token: its place in the text, for `after`.
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
