// Recurrent networks: a cell's gates, the attention of its states, and the input of the output matrix.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "common/mark.h"
#include "inspect/probe/data_flow_builder.h"
#include "inspect/probe/tensors.h"

namespace attnscope {
Cell DataFlowBuilder::cell(bool decoder, int layer, bool reverse) const {
  const std::string stack = decoder ? "decoder." : "encoder.";
  const auto named = [&](const char* name) {
    return parameter(fmt::format("{}{}_l{}{}", stack, name, layer, reverse ? "_reverse" : ""));
  };
  return {cell_kind(config_.cell), named("weight_ih"), named("weight_hh"), named("bias_ih"), named("bias_hh")};
}

CellState DataFlowBuilder::first_state(bool decoder, int layer, int direction) const {
  if (decoder) return attnscope::states_of(cell_kind(config_.cell), pass_.memory.last)[static_cast<std::size_t>(layer)];
  const Cell own = cell(false, layer, direction == 1);
  const torch::Tensor zeros = torch::zeros({1, own.weight_hh.size(1)}, own.weight_hh.options());
  return {zeros, own.kind == CellKind::lstm ? zeros : torch::Tensor()};
}

DataFlowBuilder::Read DataFlowBuilder::read(const Cell& cell, const torch::Tensor& x, CellState state,
                                            bool reverse) const {
  Read read{x, cell.from_input(x), {}, {}};
  const std::int64_t length = x.size(0);
  std::vector<torch::Tensor> h(static_cast<std::size_t>(length)), c = h;
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t t = reverse ? length - 1 - i : i;
    state = cell.next(read.from_input.slice(0, t, t + 1), state);
    h[static_cast<std::size_t>(t)] = state.h;
    c[static_cast<std::size_t>(t)] = state.c;
  }
  read.h = torch::cat(h);
  if (cell.kind == CellKind::lstm) read.c = torch::cat(c);
  return read;
}

// T×D: the attention-weighted sum of the encoder's states at every step.
torch::Tensor DataFlowBuilder::contexts() const {
  return torch::mm(pass_.record.cross.front()[0][0], pass_.memory.states[0]).detach();
}

// L×I, the input of a layer.
torch::Tensor DataFlowBuilder::input_of(bool decoder, int layer) const {
  if (layer > 0) return states_of(decoder, layer - 1);
  const torch::Tensor x = embedded(decoder);
  return decoder && config_.attention == "bahdanau" ? torch::cat({x, contexts()}, 1) : x;
}

// L×D, the output of a layer.
torch::Tensor DataFlowBuilder::states_of(bool decoder, int layer) const {
  std::vector<torch::Tensor> parts;
  for (int direction = 0; direction < directions(decoder); ++direction)
    parts.push_back(read(cell(decoder, layer, direction == 1), input_of(decoder, layer),
                         first_state(decoder, layer, direction), direction == 1)
                        .h);
  return torch::cat(parts, 1);
}

void DataFlowBuilder::add_cell() {
  const int layer = flow_.asked.layer;
  const std::vector<std::string> labels = tokens();
  const bool with_context = decoder() && config_.attention == "bahdanau" && layer == 0;
  const int x =
      add({.name = "x",
           .help = with_context ? mark("The embedded token, concatenated with the attention context from the source.")
                                : mark("Input of this layer, one row per token."),
           .letters = length() + (with_context ? "×2D" : "×D"),
           .row_labels = labels},
          input_of(decoder(), layer));
  for (int direction = 0; direction < directions(decoder()); ++direction) {
    const bool reverse = direction == 1;
    const Cell own = cell(decoder(), layer, reverse);
    const Read made = read(own, of(x), first_state(decoder(), layer, direction), reverse);
    const std::string width = directions(decoder()) == 2 ? "D/2" : "D";
    if (directions(decoder()) == 2) begin_section(reverse ? mark("Backward direction") : mark("Forward direction"));
    const int from_input = add_linear(x, "x·W_ih", "W_ih", "b_ih", own.weight_ih, own.bias_ih,
                                      (with_context ? "2D×" : "D×") + std::string("G"));
    at(from_input).help = mark(
        "Input contribution to the gates, one row per token, independent of the state. The gates are side by side.");
    add_learned("W_hh", mark("Learned: contribution of the previous state to the gates."), width + "×G",
                own.weight_hh.t());
    const std::string letters = length() + "×" + width;
    if (made.c.defined())
      add({.name = "c", .help = mark("Memory cell after each token."), .letters = letters, .row_labels = labels},
          made.c);
    add({.name = "h",
         .help = mark("Hidden state after each token: passed to the next layer and to the next token."),
         .letters = letters,
         .row_labels = labels},
        made.h);
  }
}

void DataFlowBuilder::add_attention_of_states() {
  const std::vector<std::string> queries = tokens();
  const std::vector<std::string> keys = texts_of(pass_.whole.source);
  const int top = static_cast<int>(config_.num_decoder_layers) - 1;
  torch::Tensor states = states_of(true, top);
  const bool before = config_.attention == "bahdanau";
  if (before) states = torch::cat({first_state(true, top, 0).h, states.slice(0, 0, states.size(0) - 1)});
  const bool additive = parameters_.contains("attention.v.weight");
  const torch::Tensor memory = pass_.memory.states[0].detach();

  const int s =
      add({.name = "s",
           .help = before ? mark("Decoder state before each token.") : mark("Decoder state after each token."),
           .letters = "T×D",
           .row_labels = queries},
          states);
  const int h = add({.name = "memory",
                     .help = mark("Encoder states, used as keys and as values."),
                     .letters = "S×D",
                     .row_labels = keys},
                    memory);
  FlowMatrix scored{.name = "scores",
                    .help = mark("s·k: how well each decoder state matches each source token (1508.04025 §3.1)."),
                    .letters = "T×S",
                    .op = FlowOp::scores,
                    .row_labels = queries,
                    .col_labels = keys};
  torch::Tensor scores;
  if (additive) {
    const torch::Tensor w = parameter("attention.W.weight"), u = parameter("attention.U.weight");
    const torch::Tensor v = parameter("attention.v.weight");
    const int ws = add_linear(s, "s·W", "W", "", w, {}, "D×D");
    const int uh = add_linear(h, "memory·U", "U", "", u, {}, "D×D");
    add_learned("v", mark("Learned: weights of the sum over components."), "1×D", v);
    scored.op = FlowOp::given;
    scored.help = mark("v·tanh(s·W + memory·U), for every pair (1409.0473 A.1.2).");
    scores = torch::matmul(torch::tanh(of(ws).unsqueeze(1) + of(uh).unsqueeze(0)), v[0]);
  } else {
    int k = h;
    if (parameters_.contains("attention.W.weight"))
      k = add_linear(h, "k", "W", "", parameter("attention.W.weight"), {}, "D×D");
    scored.operands = {s, k};
    scores = torch::mm(of(s), of(k).t());
  }
  const int score = add(std::move(scored), scores);
  const int weights = add({.name = "weights",
                           .help = mark("softmax of every row: positive weights that sum to 1."),
                           .letters = "T×S",
                           .op = FlowOp::softmax,
                           .operands = {score},
                           .row_labels = queries,
                           .col_labels = keys},
                          pass_.record.cross.front()[0][0]);
  add({.name = "context",
       .help = mark("Weighted sum of the encoder states."),
       .letters = "T×D",
       .op = FlowOp::product,
       .operands = {weights, h},
       .row_labels = queries},
      contexts());
}

// Pooling of a classifier; papers in model/pooling.h.
void DataFlowBuilder::add_pooling() {
  const std::vector<std::string> queries = tokens(), keys = texts_of(pass_.whole.source);
  const int h =
      add({.name = "h", .help = mark("Encoder states, one row per token."), .letters = "S×D", .row_labels = keys},
          pass_.memory.states[0].detach());
  FlowMatrix weights{.name = "weights",
                     .help = mark("Weight of each state in the sum. The weights sum to 1."),
                     .letters = "T×S",
                     .row_labels = queries,
                     .col_labels = keys};
  if (config_.pooling == "attention") {
    const int inner =
        add_linear(h, "h·W + b", "W", "b", parameter("pooling.W.weight"), parameter("pooling.W.bias"), "D×D");
    const int active = add({.name = "tanh",
                            .help = mark("tanh of every component."),
                            .letters = "S×D",
                            .op = FlowOp::tanh,
                            .operands = {inner},
                            .row_labels = keys},
                           torch::tanh(of(inner)));
    const torch::Tensor v = parameter("pooling.v.weight");
    const int asks = add_learned("v", mark("Learned query, the same for every text."), "1×D", v);
    const int scores = add({.name = "scores",
                            .help = mark("v·tanh(h·W + b), for every token (Yang et al. 2016)."),
                            .letters = "T×S",
                            .op = FlowOp::scores,
                            .operands = {asks, active},
                            .row_labels = queries,
                            .col_labels = keys},
                           torch::mm(v, of(active).t()));
    weights.op = FlowOp::softmax;
    weights.operands = {scores};
  }
  const int weight = add(std::move(weights), pass_.record.cross.front()[0][0]);
  add({.name = "pooled",
       .help = mark("Weighted sum of the states: the only input of the classifier."),
       .letters = "T×D",
       .op = FlowOp::product,
       .operands = {weight, h},
       .row_labels = queries},
      contexts());
}

void DataFlowBuilder::add_readout() {
  const std::vector<std::string> labels = tokens();
  const int context = add({.name = "context",
                           .help = mark("Attention context: weighted sum of the encoder states."),
                           .letters = "T×D",
                           .row_labels = labels},
                          contexts());
  const int state =
      add({.name = "h", .help = mark("Decoder state after each token."), .letters = "T×D", .row_labels = labels},
          states_of(true, static_cast<int>(config_.num_decoder_layers) - 1));
  const int both = add({.name = "[context; h]",
                        .help = mark("Context and state, concatenated."),
                        .letters = "T×2D",
                        .op = FlowOp::beside,
                        .operands = {context, state},
                        .row_labels = labels},
                       torch::cat({of(context), of(state)}, 1));
  const int inner = add_linear(both, "inner", "W_c", "", parameter("attention.W_c.weight"), {}, "2D×D");
  add({.name = "h̃",
       .help = mark("tanh of the projection: the logits are computed from it (1508.04025 eq. 5)."),
       .letters = "T×D",
       .op = FlowOp::tanh,
       .operands = {inner},
       .row_labels = labels},
      torch::tanh(of(inner)));
}

}  // namespace attnscope
