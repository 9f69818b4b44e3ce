#include "model/cells.h"

#include <cmath>

#include "model/kernels/cells.h"
#include "model/kernels/dropout.h"
#include "model/kernels/linear.h"

namespace attnscope {
namespace {

std::int64_t num_gates(CellKind kind) {
  switch (kind) {
    case CellKind::rnn:
      return 1;
    case CellKind::lstm:
      return 4;
    case CellKind::gru:
      return 3;
  }
  return 0;
}

// The part of a bidirectional layer's state that belongs to one direction.
CellState part_of(const CellState& state, std::int64_t direction, std::int64_t num_directions) {
  const auto part = [&](const torch::Tensor& tensor) {
    return tensor.defined() ? tensor.chunk(num_directions, 1)[direction] : tensor;
  };
  return {part(state.h), part(state.c)};
}

torch::Tensor side_by_side(const std::vector<torch::Tensor>& parts) {
  return parts.size() == 1 ? parts[0] : torch::cat(parts, -1);
}

CellState joined(const std::vector<CellState>& parts) {
  std::vector<torch::Tensor> h, c;
  for (const CellState& part : parts) {
    h.push_back(part.h);
    if (part.c.defined()) c.push_back(part.c);
  }
  return {side_by_side(h), c.empty() ? torch::Tensor() : side_by_side(c)};
}

// padding: bool B×1. Padded rows retain their previous state.
CellState carried(const torch::Tensor& padding, const CellState& before, const CellState& after) {
  CellState state{torch::where(padding, before.h, after.h), {}};
  if (after.c.defined()) state.c = torch::where(padding, before.c, after.c);
  return state;
}

// Called after each token of one cell.
using CellHook = std::function<CellState(std::int64_t token, CellState state)>;

// x: L×B×I → the states after each token, in text order; `state` returns the state after the last token processed.
std::vector<CellState> read(const Cell& cell, const torch::Tensor& x, const torch::Tensor& padding, CellState& state,
                            bool reverse, const CellHook& after) {
  const auto inputs = cell.from_input(x).unbind(0);  // L of B×GH
  const auto paddings = padding.defined() ? padding.unsqueeze(2).unbind(0) : std::vector<torch::Tensor>();
  std::vector<CellState> states(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t t = reverse ? inputs.size() - 1 - i : i;
    const CellState next = cell.next(inputs[t], state);
    state = padding.defined() ? carried(paddings[t], state, next) : next;
    if (after) state = after(static_cast<std::int64_t>(t), std::move(state));
    states[t] = state;
  }
  return states;
}

// L of B×H → L×B×H
torch::Tensor outputs_of(const std::vector<CellState>& states) {
  std::vector<torch::Tensor> outputs;
  for (const CellState& state : states) outputs.push_back(state.h);
  return torch::stack(outputs);
}

}  // namespace

CellKind cell_kind(std::string_view name) {
  if (name == "lstm") return CellKind::lstm;
  return name == "gru" ? CellKind::gru : CellKind::rnn;
}

std::vector<torch::Tensor> tensors_of(const std::vector<CellState>& states) {
  std::vector<torch::Tensor> tensors;
  for (const CellState& state : states) {
    tensors.push_back(state.h);
    if (state.c.defined()) tensors.push_back(state.c);
  }
  return tensors;
}

std::vector<CellState> states_of(CellKind kind, const std::vector<torch::Tensor>& tensors) {
  std::vector<CellState> states;
  const std::size_t stride = kind == CellKind::lstm ? 2 : 1;
  for (std::size_t i = 0; i < tensors.size(); i += stride) {
    states.push_back({tensors[i], kind == CellKind::lstm ? tensors[i + 1] : torch::Tensor()});
  }
  return states;
}

torch::Tensor Cell::from_input(const torch::Tensor& x) const {
  return kernels::linear(x, weight_ih, bias_ih);
}

CellState Cell::next(const torch::Tensor& from_input, const CellState& before) const {
  const torch::Tensor from_state = kernels::linear(before.h, weight_hh, bias_hh);
  switch (kind) {
    case CellKind::rnn:
      return {torch::tanh(from_input + from_state), {}};  // Elman 1990
    case CellKind::lstm: {
      const kernels::LstmState next = kernels::lstm_step(from_input, from_state, before.c);
      return {next.h, next.c};
    }
    case CellKind::gru:
      return {kernels::gru_step(from_input, from_state, before.h), {}};
  }
  return {};
}

RecurrentStackImpl::RecurrentStackImpl(CellKind kind, std::int64_t input_width, std::int64_t width,
                                       std::int64_t num_layers, bool bidirectional)
    : kind_(kind), width_(width), num_layers_(num_layers), num_directions_(bidirectional ? 2 : 1) {
  for (std::int64_t layer = 0; layer < num_layers; ++layer) {
    const std::string suffix = "_l" + std::to_string(layer);
    const std::int64_t layer_input = layer == 0 ? input_width : width;
    cells_.push_back(make_cell(suffix, layer_input, width / num_directions_));
    if (bidirectional) cells_.push_back(make_cell(suffix + "_reverse", layer_input, width / num_directions_));
  }
}

Cell RecurrentStackImpl::make_cell(const std::string& suffix, std::int64_t input_width, std::int64_t hidden) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(hidden));  // as torch::nn initializes
  const auto uniform = [&](const char* name, std::vector<std::int64_t> sizes) {
    return register_parameter(name + suffix, torch::empty(sizes).uniform_(-bound, bound));
  };
  const std::int64_t rows = num_gates(kind_) * hidden;
  Cell cell{kind_, {}, {}, {}, {}};
  cell.weight_ih = uniform("weight_ih", {rows, input_width});
  cell.weight_hh = uniform("weight_hh", {rows, hidden});
  cell.bias_ih = uniform("bias_ih", {rows});
  cell.bias_hh = uniform("bias_hh", {rows});
  return cell;
}

std::vector<CellState> RecurrentStackImpl::initial_states(std::int64_t batch_size) const {
  const torch::Tensor zeros = torch::zeros({batch_size, width_}, first_cell().weight_ih.options().requires_grad(false));
  return std::vector<CellState>(num_layers_, {zeros, kind_ == CellKind::lstm ? zeros : torch::Tensor()});
}

torch::Tensor RecurrentStackImpl::forward(torch::Tensor x, const torch::Tensor& padding, std::vector<CellState>& states,
                                          double dropout, std::vector<std::vector<CellState>>* kept,
                                          const StateHook& after) {
  for (std::int64_t layer = 0; layer < num_layers_; ++layer) {
    if (layer > 0) x = kernels::dropout(x, is_training() ? dropout : 0);
    std::vector<torch::Tensor> outputs;
    std::vector<CellState> parts;
    for (std::int64_t direction = 0; direction < num_directions_; ++direction) {
      CellState& state = parts.emplace_back(part_of(states[layer], direction, num_directions_));
      CellHook hook;
      if (after) hook = [&](std::int64_t token, CellState it) { return after(layer, direction, token, std::move(it)); };
      std::vector<CellState> read_through =
          read(cells_[layer * num_directions_ + direction], x, padding, state, direction == 1, hook);
      outputs.push_back(outputs_of(read_through));
      if (kept) kept->push_back(std::move(read_through));
    }
    states[layer] = joined(parts);
    x = side_by_side(outputs);
  }
  return x;
}

void RecurrentStackImpl::step(const torch::Tensor& from_input, std::vector<CellState>& states, double dropout,
                              std::int64_t token, const StateHook& after) {
  for (std::int64_t layer = 0; layer < num_layers_; ++layer) {
    const auto enters = [&] {
      return cells_[layer].from_input(kernels::dropout(states[layer - 1].h, is_training() ? dropout : 0));
    };
    states[layer] = cells_[layer].next(layer == 0 ? from_input : enters(), states[layer]);
    if (after) states[layer] = after(layer, 0, token, std::move(states[layer]));
  }
}

}  // namespace attnscope
