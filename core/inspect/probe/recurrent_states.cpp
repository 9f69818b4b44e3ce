#include "inspect/probe/recurrent_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/clamped.h"
#include "inspect/probe/tensors.h"
#include "model/cells.h"
#include "training/decoding/search.h"

namespace attnscope {
namespace {

struct GateName {
  const char* name;
  const char* symbol;
};

// In torch::nn's order.
std::vector<GateName> gate_names(CellKind kind) {
  switch (kind) {
    case CellKind::rnn:
      return {{"state", "h"}};
    case CellKind::lstm:
      return {{"input gate", "i"}, {"forget gate", "f"}, {"candidate", "g"}, {"output gate", "o"}};
    case CellKind::gru:
      return {{"reset gate", "r"}, {"update gate", "z"}, {"candidate", "n"}};
  }
  return {};
}

class CellAttention {
 public:
  CellAttention(SequenceModel& model, const RecurrentWanted& wanted, const Snapshot& whole)
      : config_(model.config()), whole_(whole), parameters_(model.named_parameters()) {
    record_.interventions = whole.interventions.empty() ? nullptr : &whole.interventions;
    record_.cells_wanted = record_.values_wanted = true;
    memory_ = model.encode(ids_tensor(ids_of(whole.source), model.device()), {}, &record_);
    model.decode(ids_tensor(ids_of(whole.target_in), model.device()), memory_, nullptr, &record_);
    inspection_.asked = settled(wanted);
  }

  RecurrentStates made() {
    inspection_.cell = config_.cell;
    inspection_.layers = layers();
    inspection_.directions = directions();
    inspection_.tokens = texts_of(inspection_.asked.decoder ? whole_.target_in : whole_.source);
    inspection_.source = texts_of(whole_.source);
    inspection_.written = texts_of(whole_.target_out);
    add_gates();
    if (config_.has_decoder() && config_.attention != "none") inspection_.attention.push_back(attention());
    add_handed();
    return std::move(inspection_);
  }

 private:
  int layers() const {
    return static_cast<int>(inspection_.asked.decoder ? config_.num_decoder_layers : config_.num_encoder_layers);
  }
  int directions() const { return config_.bidirectional && !inspection_.asked.decoder ? 2 : 1; }
  CellKind kind() const { return cell_kind(config_.cell); }
  torch::Tensor parameter(const std::string& name) const { return parameters_[name].detach(); }

  RecurrentWanted settled(RecurrentWanted wanted) {
    wanted.decoder = wanted.decoder && config_.has_decoder();
    inspection_.asked.decoder = wanted.decoder;
    wanted.layer = clamped(wanted.layer, 0, layers() - 1);
    wanted.reverse = wanted.reverse && directions() == 2;
    return wanted;
  }

  const std::vector<CellState>& states(int layer, int direction) const {
    const auto& cells = inspection_.asked.decoder ? record_.decoder_cells : record_.encoder_cells;
    return cells[static_cast<std::size_t>(layer * directions() + direction)];
  }

  // L×H: the selected member of every state.
  static torch::Tensor stacked(const std::vector<CellState>& states, torch::Tensor CellState::*what) {
    std::vector<torch::Tensor> rows;
    for (const CellState& state : states) rows.push_back(state.*what);
    return torch::cat(rows);
  }

  // T×D, the attention output at every step.
  torch::Tensor contexts() const { return torch::mm(record_.cross.front()[0][0], memory_.states[0]); }

  // L×I, the layer's input.
  torch::Tensor input() const {
    const bool decoder = inspection_.asked.decoder;
    const int layer = inspection_.asked.layer;
    if (layer > 0) {
      std::vector<torch::Tensor> parts;
      for (int direction = 0; direction < directions(); ++direction)
        parts.push_back(stacked(states(layer - 1, direction), &CellState::h));
      return torch::cat(parts, 1);
    }
    const ValueSite embedded{ValueKind::state, decoder ? AttentionPart::decoder : AttentionPart::encoder, 0};
    const torch::Tensor x = record_.values.at(embedded)[0];
    return decoder && config_.attention == "bahdanau" ? torch::cat({x, contexts()}, 1) : x;
  }

  // The state before the first input token.
  CellState first(std::int64_t hidden) const {
    if (inspection_.asked.decoder)
      return states_of(kind(), memory_.last)[static_cast<std::size_t>(inspection_.asked.layer)];
    const torch::Tensor zeros = torch::zeros({1, hidden}, memory_.states.options());
    return {zeros, kind() == CellKind::lstm ? zeros : torch::Tensor()};
  }

  void add_gates() {
    const int layer = inspection_.asked.layer;
    const bool reverse = inspection_.asked.reverse;
    const auto named = [&](const char* name) {
      return parameter(fmt::format("{}.{}_l{}{}", inspection_.asked.decoder ? "decoder" : "encoder", name, layer,
                                   reverse ? "_reverse" : ""));
    };
    const Cell cell{kind(), named("weight_ih"), named("weight_hh"), named("bias_ih"), named("bias_hh")};
    const std::vector<CellState>& read = states(layer, reverse ? 1 : 0);
    const torch::Tensor h = stacked(read, &CellState::h);
    const std::int64_t length = h.size(0), hidden = h.size(1);
    const CellState begin = first(hidden);
    const torch::Tensor before =
        reverse ? torch::cat({h.slice(0, 1), begin.h}) : torch::cat({begin.h, h.slice(0, 0, length - 1)});
    const std::vector<GateName> names = gate_names(kind());
    const auto count = static_cast<std::int64_t>(names.size());
    const auto from_input = cell.from_input(input()).chunk(count, 1);
    const auto from_state = torch::linear(before, cell.weight_hh, cell.bias_hh).chunk(count, 1);
    std::vector<torch::Tensor> values;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool is_new = kind() == CellKind::gru && i == 2;  // the reset gate scales the state's contribution
      const bool is_tanh = is_new || kind() == CellKind::rnn || (kind() == CellKind::lstm && i == 2);
      const torch::Tensor sum = from_input[i] + (is_new ? values[0] * from_state[i] : from_state[i]);
      values.push_back(is_tanh ? torch::tanh(sum) : torch::sigmoid(sum));
      inspection_.gates.push_back(
          {names[i].name, names[i].symbol, to_matrix(from_input[i]), to_matrix(from_state[i]), to_matrix(values[i])});
    }
    inspection_.h = to_matrix(h);
    inspection_.first_h = to_matrix(begin.h);
    if (kind() != CellKind::lstm) return;
    inspection_.c = to_matrix(stacked(read, &CellState::c));
    inspection_.first_c = to_matrix(begin.c);
  }

  StateAttention attention() const {
    const std::vector<CellState>& top = record_.decoder_cells.back();
    const bool inspects_first = config_.attention == "bahdanau";
    torch::Tensor asking = stacked(top, &CellState::h);
    if (inspects_first)
      asking = torch::cat({states_of(kind(), memory_.last).back().h, asking.slice(0, 0, asking.size(0) - 1)});
    const torch::Tensor memory = memory_.states[0];
    StateAttention inspection{.score = config_.attention,
                              .states = to_matrix(asking),
                              .memory = to_matrix(memory),
                              .asked = {},
                              .keys = {},
                              .v = {},
                              .energies = {},
                              .weights = to_matrix(record_.cross.front()[0][0]),
                              .contexts = to_matrix(contexts())};
    torch::Tensor asked = asking, keys = memory, energies;
    if (parameters_.contains("attention.v.weight")) {
      const torch::Tensor v = parameter("attention.v.weight")[0];
      asked = torch::linear(asking, parameter("attention.W.weight"));
      keys = torch::linear(memory, parameter("attention.U.weight"));
      energies = torch::matmul(torch::tanh(asked.unsqueeze(1) + keys.unsqueeze(0)), v);
      inspection.v = to_values(v);
    } else {
      if (parameters_.contains("attention.W.weight")) keys = torch::linear(memory, parameter("attention.W.weight"));
      energies = torch::mm(asked, keys.t());
    }
    inspection.asked = to_matrix(asked);
    inspection.keys = to_matrix(keys);
    inspection.energies = to_matrix(energies);
    return inspection;
  }

  void add_handed() {
    inspection_.handed = to_matrix(torch::cat(memory_.last));
    const bool has_cell = kind() == CellKind::lstm;
    for (std::int64_t layer = 1; layer <= config_.num_decoder_layers; ++layer) {
      inspection_.handed_names.push_back(fmt::format("layer {}, h", layer));
      if (has_cell) inspection_.handed_names.push_back(fmt::format("layer {}, c", layer));
    }
  }

  const ModelConfig& config_;
  const Snapshot& whole_;
  torch::OrderedDict<std::string, torch::Tensor> parameters_;
  Inspection record_;
  Memory memory_;
  RecurrentStates inspection_;
};

// The outputs for the first 1, 2, … S source tokens: everything that the states after them encode.
std::vector<std::string> read_out(SequenceModel& model, const Tokenizer& tokenizer, const Snapshot& whole,
                                  const YieldCallback& yield) {
  const std::vector<int> ids = ids_of(whole.source);
  const auto length = static_cast<std::int64_t>(ids.size());
  const torch::Tensor source = ids_tensor(ids, model.device()).expand({length, length});
  const torch::Tensor unread = torch::ones({length, length}, torch::kBool).triu(1).to(model.device());
  std::vector<std::string> texts;
  for (const std::vector<Hypothesis>& found :
       beam_search(model, source.masked_fill(unread, Tokenizer::pad_id).contiguous(), unread, {.beam = 1}, yield))
    texts.push_back(tokenizer.decode(found.front().ids));
  return texts;
}

}  // namespace

RecurrentStates inspect_cells(SequenceModel& model, const Tokenizer& tokenizer, const RecurrentWanted& wanted,
                              const Snapshot& whole, const YieldCallback& yield) {
  RecurrentStates inspection = CellAttention(model, wanted, whole).made();
  const ModelConfig& config = model.config();
  const bool all_in_last = config.has_decoder() ? config.attention == "none" : !config.pools_by_weights();
  if (wanted.read_out && all_in_last) inspection.read_out = read_out(model, tokenizer, whole, yield);
  return inspection;
}

}  // namespace attnscope
