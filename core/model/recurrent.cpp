#include "model/recurrent.h"

#include <algorithm>

#include "model/kernels/dropout.h"

namespace attnscope {
namespace {

// x: L×B×D, embedded. The inspection records it in the Transformer's layout: B×L×D.
torch::Tensor kept_input(Inspection* inspection, AttentionPart stack, const torch::Tensor& x) {
  return patched(inspection, {ValueKind::state, stack, 0}, x.transpose(0, 1)).transpose(0, 1);
}

}  // namespace

Recurrent::Recurrent(const ModelConfig& config, std::int64_t vocab_size)
    : SequenceModel(config, vocab_size),
      kind_(cell_kind(config.cell)),
      inspects_first_(config.attention == "bahdanau") {
  const std::int64_t d_model = config.d_model;
  make_embeddings();
  encoder_ = register_module("encoder",
                             RecurrentStack(kind_, d_model, d_model, config.num_encoder_layers, config.bidirectional));
  if (config.has_decoder()) {
    decoder_ = register_module("decoder", RecurrentStack(kind_, inspects_first_ ? 2 * d_model : d_model, d_model,
                                                         config.num_decoder_layers, false));
  }
  if (config.has_decoder() && config.attention != "none") {
    attention_ = register_module("attention", RecurrentAttention(config.attention, d_model));
  }
  if (config.pools_by_weights()) pooling_ = register_module("pooling", Pooling(config.pooling, d_model));
  make_output();
}

Memory Recurrent::encode(const torch::Tensor& source, const torch::Tensor& padding, Inspection* inspection) {
  std::vector<CellState> states = encoder_->initial_states(source.size(0));
  const torch::Tensor embedded =
      kept_input(inspection, AttentionPart::encoder,
                 embed(source_embedding_, replaced_ids(inspection, source, false, 0).t(), {}));  // S×B×D
  std::vector<std::vector<CellState>> cells;
  const torch::Tensor outputs =
      encoder_->forward(embedded, padding.defined() ? padding.t() : padding, states, config_.dropout, &cells,
                        states_put(inspection, AttentionPart::encoder));
  if (inspection) keep_cells(*inspection, false, static_cast<std::size_t>(config_.num_encoder_layers), cells);
  keep_state(inspection, embedded.transpose(0, 1));
  keep_state(inspection, outputs.transpose(0, 1));
  std::vector<CellState> last;
  // Layers are matched from the top down; decoder layers without a partner use the bottom encoder layer.
  const std::int64_t lowest = config_.num_encoder_layers - config_.num_decoder_layers;
  for (std::int64_t layer = 0; layer < config_.num_decoder_layers; ++layer) {
    last.push_back(states[std::max<std::int64_t>(0, lowest + layer)]);
  }
  return {outputs.transpose(0, 1).contiguous(), padding, tensors_of(last)};
}

torch::Tensor Recurrent::decode(const torch::Tensor& target_in, const Memory& memory, DecoderCache* cache,
                                Inspection* inspection) {
  if (!decoder_) {
    if (cache) cache->length += target_in.size(1);
    return kernels::dropout(pooled(memory, target_in.size(1), inspection), dropout());
  }
  std::vector<CellState> states = states_of(kind_, cache && cache->length > 0 ? cache->state : memory.last);
  const torch::Tensor embedded = kept_input(
      inspection, AttentionPart::decoder,
      embed(target_embedding_, replaced_ids(inspection, target_in, true, cache ? cache->length : 0).t(), {}));
  const torch::Tensor keys = source_keys(memory, cache);
  const Decoded decoded = inspects_first_ ? inspect_then_step(embedded, keys, memory, states, inspection)
                                          : step_then_inspect(embedded, keys, memory, states, inspection);
  if (inspection) keep_cells(*inspection, true, states.size(), decoded.cells);
  if (cache) {
    cache->state = tensors_of(states);
    cache->length += target_in.size(1);
  }
  torch::Tensor features = decoded.states;
  if (attention_) {
    features = attention_->readout(decoded.seen.contexts, decoded.states);
    if (inspection) inspection->cross.push_back(decoded.seen.weights.detach().unsqueeze(1));
  }
  return kernels::dropout(features, dropout());
}

torch::Tensor Recurrent::pooled(const Memory& memory, std::int64_t queries, Inspection* inspection) {
  if (pooling_) return pooling_(memory, queries, inspection);
  return states_of(kind_, memory.last).back().h.unsqueeze(1).expand({-1, queries, -1});
}

torch::Tensor Recurrent::source_keys(const Memory& memory, DecoderCache* cache) {
  if (!attention_) return {};
  if (!cache) return attention_->keys(memory);
  cache->cross.resize(1);
  torch::Tensor& keys = cache->cross[0];
  if (!keys.defined()) keys = attention_->keys(memory);
  return keys;
}

// 1409.0473 A.1.2: the state before the token attends to the source, and the context enters the cell with the token.
Recurrent::Decoded Recurrent::inspect_then_step(const torch::Tensor& embedded, const torch::Tensor& keys,
                                                const Memory& memory, std::vector<CellState>& states,
                                                Inspection* inspection) {
  const Cell& cell = decoder_->first_cell();
  const auto weights = cell.weight_ih.split(config_.d_model, 1);  // W_ih [y; c] = W_y y + W_c c, W_y y for all at once
  const auto from_tokens = torch::linear(embedded, weights[0], cell.bias_ih).unbind(0);
  std::vector<torch::Tensor> tops, contexts, attention_weights;
  std::vector<std::vector<CellState>> cells(states.size());
  const StateHook after = states_put(inspection, AttentionPart::decoder);
  for (std::size_t i = 0; i < from_tokens.size(); ++i) {
    const auto token = static_cast<std::int64_t>(i);
    const Seen seen = attention_->attend(states.back().h.unsqueeze(1), keys, memory, inspection, token);
    decoder_->step(from_tokens[i] + torch::linear(seen.contexts.squeeze(1), weights[1]), states, config_.dropout, token,
                   after);
    for (std::size_t layer = 0; layer < states.size(); ++layer) cells[layer].push_back(states[layer]);
    tops.push_back(states.back().h);
    contexts.push_back(seen.contexts);
    attention_weights.push_back(seen.weights);
  }
  return {torch::stack(tops, 1), {torch::cat(contexts, 1), torch::cat(attention_weights, 1)}, std::move(cells)};
}

// 1508.04025 §3: the state after the token attends to the source, so all tokens are computed at once. The contexts do
// not enter the cell again (no input feeding, §3.3).
Recurrent::Decoded Recurrent::step_then_inspect(const torch::Tensor& embedded, const torch::Tensor& keys,
                                                const Memory& memory, std::vector<CellState>& states,
                                                Inspection* inspection) {
  std::vector<std::vector<CellState>> cells;
  const torch::Tensor tops =
      decoder_->forward(embedded, {}, states, config_.dropout, &cells, states_put(inspection, AttentionPart::decoder))
          .transpose(0, 1);
  return {tops, attention_ ? attention_->attend(tops, keys, memory, inspection) : Seen(), std::move(cells)};
}

}  // namespace attnscope
