#include "model/transformer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "model/initial_values.h"
#include "model/kernels/backend.h"
#include "model/kernels/dropout.h"
#include "model/kernels/linear.h"
#include "model/kernels/norm.h"
#include "model/recompute.h"

namespace attnscope {
namespace {

constexpr std::int64_t farthest_bias = 128;  // beyond this distance T5 has one bucket and ALiBi stays linear

bool has_relative_vectors(const ModelConfig& config) {
  return position_scheme(config.positions).form == PositionForm::vectors;
}

// False while the "no positional encoding" override is active.
bool uses_positions(const Inspection* inspection) {
  return !inspection || !inspection->interventions || !inspection->interventions->no_positions;
}

// bool B×L, true at padding; the first token never counts as padding, because Marian's targets start with the padding
// token.
torch::Tensor padding_of(const torch::Tensor& ids, std::int64_t padding_id) {
  const torch::Tensor padding = ids.eq(padding_id);
  padding.select(1, 0).fill_(false);
  return padding;
}

// With the stack's number of heads, and without windows.
ModelConfig of_stack(ModelConfig config, bool decoder) {
  config.window = 0;
  return config.of_layer(decoder, 0);
}

Norm embedding_norm(const ModelConfig& config) {
  return Norm(config, config.embedding_width(), config.norm_epsilon);
}

torch::Tensor* layer_cache(std::vector<torch::Tensor>* caches, std::size_t layer) {
  return caches ? &(*caches)[layer] : nullptr;
}

}  // namespace

torch::Tensor look_ahead_mask(std::int64_t num_queries, std::int64_t num_keys, torch::Device device) {
  return torch::ones({num_queries, num_keys}, torch::dtype(torch::kBool).device(device))
      .triu(num_keys - num_queries + 1);
}

// ---- one layer

LayerImpl::LayerImpl(const ModelConfig& config, bool cross_attention)
    : num_heads_(config.num_heads),
      pre_norm_(config.norm == "pre"),
      parallel_(config.parallel_sublayers),
      form_(feed_forward_form(config.activation)),
      dropout_(config.dropout),
      self_attn_(register_module("self_attn", MultiHeadAttention(config, has_relative_vectors(config)))) {
  if (cross_attention) multihead_attn_ = register_module("multihead_attn", MultiHeadAttention(config, false));
  if (config.has_feed_forward()) {
    linear1_ = register_module("linear1", xavier_linear(config.d_model, config.d_ff, config.biases));
    linear2_ = register_module("linear2", xavier_linear(config.d_ff, config.d_model, config.biases));
    if (form_.gated) {
      linear_v_ = register_module("linear_v", xavier_linear(config.d_model, config.d_ff, config.biases));
    }
  }
  norm1_ = register_module("norm1", Norm(config));
  if (cross_attention || linear1_) norm2_ = register_module("norm2", Norm(config));
  if (cross_attention && linear1_) norm3_ = register_module("norm3", Norm(config));
  if (!config.output_norms) return;
  for (const auto& [sublayer, name, exists] :
       {std::tuple(Sublayer::self_attention, "self_attn_output_norm", true),
        std::tuple(Sublayer::cross_attention, "multihead_attn_output_norm", cross_attention),
        std::tuple(Sublayer::feed_forward, "feed_forward_output_norm", config.has_feed_forward())})
    if (exists) output_norms_[static_cast<std::size_t>(sublayer)] = register_module(name, Norm(config));
}

torch::Tensor LayerImpl::forward(torch::Tensor x, const LayerContext& context, torch::Tensor* self_cache,
                                 torch::Tensor* cross_cache, LayerInspection& inspection) {
  if (inspection.is_off()) return inspection.stream(pass_on(x, context, inspection));
  const torch::Tensor from = x;
  torch::Tensor input = before(x, norm1_);
  torch::Tensor added =
      self_attn_->attend_self(input, context.self_mask, context.positions, self_cache, inspection, context.part);
  x = after(x, input, added, norm1_, Sublayer::self_attention, inspection);
  if (!multihead_attn_) return inspection.stream(feed_forward(x, parallel_ ? from : x, norm2_, inspection));
  input = before(x, norm2_);
  added = multihead_attn_->attend_memory(input, context.memory, context.memory_mask, cross_cache, inspection);
  x = after(x, input, added, norm2_, Sublayer::cross_attention, inspection);
  return inspection.stream(feed_forward(x, parallel_ ? from : x, norm3_, inspection));
}

// f(xW1 + b1)W2 + b2 (§3.3), with dropout where torch::nn has it.
torch::Tensor LayerImpl::feed_forward(const torch::Tensor& x, const torch::Tensor& from, Norm& norm,
                                      LayerInspection& inspection) {
  if (!linear1_) return x;
  const torch::Tensor input = before(from, norm);
  const bool fused = form_.fused != Activation::none;
  torch::Tensor active =
      kernels::linear(input, linear1_->weight, linear1_->bias, {}, form_.fused, fused ? dropout() : 0);
  if (!fused) active = activate(form_.function, active);
  if (linear_v_) active = active * kernels::linear(input, linear_v_->weight, linear_v_->bias);
  if (!fused) active = kernels::dropout(active, dropout());
  active = inspection.neurons(active);
  const torch::Tensor added = inspection.feed_forward(kernels::linear(active, linear2_->weight, linear2_->bias));
  return after(x, input, added, norm, Sublayer::feed_forward, inspection, active);
}

torch::Tensor LayerImpl::after(const torch::Tensor& x, const torch::Tensor& input, torch::Tensor added, Norm& norm,
                               Sublayer sublayer, LayerInspection& inspection, const torch::Tensor& active) {
  if (Norm& own = output_norms_[static_cast<std::size_t>(sublayer)]) added = own(added);
  // The second of two parallel sublayers is added to the first, not to a residual stream.
  const bool carries = !inspection.has_no_residuals() || (parallel_ && sublayer == Sublayer::feed_forward);
  const torch::Tensor carried = carries ? x : torch::zeros_like(x);
  const torch::Tensor out =
      pre_norm_ ? kernels::add_dropped(carried, added, dropout()) : norm->of_sum(carried, added, dropout());
  inspection.keep_sublayer(sublayer, x, input, added, out, active);
  return out;
}

torch::Tensor LayerImpl::pass_on(const torch::Tensor& x, const LayerContext& context,
                                 LayerInspection& inspection) const {
  inspection.keep_nothing(context.part, x, num_heads_, context.num_keys);
  if (multihead_attn_) inspection.keep_nothing(AttentionPart::cross, x, num_heads_, context.memory.size(1));
  return x;
}

void LayerImpl::set_dropout(double dropout) {
  dropout_ = dropout;
  self_attn_->set_dropout(dropout);
  if (multihead_attn_) multihead_attn_->set_dropout(dropout);
}

// ---- a stack of layers

StackImpl::StackImpl(const ModelConfig& config, std::int64_t num_layers, bool causal, bool cross_attention)
    : causal_(causal),
      config_(config),
      max_length_(config.max_length),
      form_(position_scheme(config.positions).form),
      position_scheme_(register_module("position_scheme", StackPositions(of_stack(config, causal), causal))) {
  if (config.window > 0 && config.local_rope_theta > 0 && form_ == PositionForm::rotation) {
    ModelConfig own = config;
    own.window_layers = "l";
    local_position_scheme_ =
        register_module("local_position_scheme", StackPositions(own.of_layer(causal, 0), causal));
  }
  auto layers = register_module("layers", torch::nn::ModuleList());
  const std::int64_t groups = config.layer_groups > 0 && !causal ? config.layer_groups : num_layers;
  std::vector<Layer> own;
  for (std::int64_t i = 0; i < groups; ++i)
    layers->push_back(own.emplace_back(config.of_layer(causal, i), cross_attention));
  for (std::int64_t i = 0; i < num_layers; ++i)
    layers_.push_back(own[static_cast<std::size_t>(i * groups / num_layers)]);
  if (config.final_norm) norm_ = register_module("norm", Norm(config));
}

torch::Tensor StackImpl::forward(torch::Tensor x, const Memory& memory, const torch::Tensor& padding,
                                 DecoderCache* cache, Inspection* inspection, const kernels::Packing& packing) {
  if (cache) {
    cache->self.resize(layers_.size());
    cache->cross.resize(layers_.size());
  }
  const std::int64_t num_queries = packing ? packing.longest : x.size(1);
  const std::int64_t num_keys = num_queries + (cache ? cache->length : 0);
  LayerContext context;
  context.part = causal_ ? AttentionPart::decoder : AttentionPart::encoder;
  context.num_keys = num_keys;
  context.self_mask.padding = padding;
  context.self_mask.query_packing = context.self_mask.key_packing = context.memory_mask.query_packing = packing;
  // A single query at the end attends to all keys.
  if (causal_ && num_queries > 1) context.self_mask.look_ahead = look_ahead_mask(num_queries, num_keys, x.device());
  context.memory = memory.states;
  context.memory_mask.padding = memory.padding;
  context.memory_mask.key_packing = memory.packing;
  Inspection* reading = memory.states.defined() ? nullptr : inspection;  // the override spares decoders with a memory
  if (uses_positions(reading)) context.positions = position_scheme_->relative(num_queries, num_keys, x.device());
  torch::Tensor& rotations = context.positions.rotations;
  if (packing && rotations.defined()) rotations = packing.by_position(rotations);
  const LayerContext local_context = config_.window > 0 ? local(context, num_queries, x.device()) : LayerContext();
  if (recompute_ && is_training() && !cache && !inspection && x.requires_grad())
    return finished(run_recomputed(x, context, local_context));
  const auto patched_state = [&](std::size_t after) {
    return patched(inspection, {ValueKind::state, context.part, static_cast<int>(after)}, x);
  };
  x = patched_state(0);
  keep_state(reading, x);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    LayerInspection layer_inspection(inspection, causal_, i, num_keys - num_queries);
    const LayerContext& own = config_.is_local(static_cast<std::int64_t>(i)) ? local_context : context;
    x = layers_[i]->forward(x, own, layer_cache(cache ? &cache->self : nullptr, i),
                            layer_cache(cache ? &cache->cross : nullptr, i), layer_inspection);
    x = patched_state(i + 1);
    layer_inspection.keep_hidden(x);
    keep_state(reading, x);
  }
  if (cache) cache->length = num_keys;
  return finished(x);
}

// Hides the keys at a distance of window tokens and more.
LayerContext StackImpl::local(LayerContext context, std::int64_t num_queries, torch::Device device) const {
  if (context.num_keys > config_.window) {
    const torch::Tensor keys = torch::arange(context.num_keys, torch::dtype(torch::kInt64).device(device));
    const torch::Tensor queries = keys.slice(0, context.num_keys - num_queries).unsqueeze(1);
    context.self_mask.outside = (queries - keys).abs().ge(config_.window);
  }
  if (local_position_scheme_ && context.positions.rotations.defined())
    context.positions = local_position_scheme_->relative(num_queries, context.num_keys, device);
  return context;
}

torch::Tensor StackImpl::run_recomputed(torch::Tensor x, const LayerContext& global, const LayerContext& local) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerContext& context = config_.is_local(static_cast<std::int64_t>(i)) ? local : global;
    LayerContext given = context;  // without the tensors that need their own gradients
    given.memory = given.positions.bias = torch::Tensor();
    x = recomputed({x, context.memory, context.positions.bias}, [this, i, given](const LayerInput& input) {
      LayerContext own = given;
      own.memory = input.memory;
      own.positions.bias = input.bias;
      LayerInspection nothing(nullptr, causal_, i, 0);
      return layers_[i]->forward(input.x, own, nullptr, nullptr, nothing);
    });
  }
  return x;
}

std::vector<PositionTensor> StackImpl::positions(const std::string& name) {
  const torch::Device device = layers_.front()->parameters().front().device();
  switch (form_) {
    case PositionForm::none:
    case PositionForm::added:
      break;
    case PositionForm::rotation:
      return {{name, 0, position_scheme_->relative(max_length_, max_length_, device).rotations}};
    case PositionForm::vectors:
      return relative_vectors(name);
    case PositionForm::bias: {
      const std::int64_t length = std::min(max_length_, farthest_bias);
      return {{name, 1 - length, position_scheme_->bias_by_distance(length, device)}};
    }
  }
  return {};
}

RelativePositions StackImpl::relative_positions(std::int64_t length) {
  return position_scheme_->relative(length, length, layers_.front()->parameters().front().device());
}

std::vector<PositionTensor> StackImpl::relative_vectors(const std::string& name) const {
  std::vector<PositionTensor> tables;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const torch::Tensor& relative_k = layers_[i]->relative_k();
    const std::int64_t farthest = relative_k.size(0) / 2;
    // Keys after the query are masked in the decoder, so their vectors are never used.
    tables.push_back({name + ", layer " + std::to_string(i + 1), -farthest,
                      causal_ ? relative_k.slice(0, 0, farthest + 1) : relative_k});
  }
  return tables;
}

void StackImpl::set_dropout(double dropout) {
  for (Layer& layer : layers_) layer->set_dropout(dropout);
}

// ---- the head of a masked language model

MaskedHeadImpl::MaskedHeadImpl(const ModelConfig& config) : activation_(feed_forward_form(config.activation).function) {
  if (config.head == "none") return;
  const bool replaced = config.head == "replaced";
  const std::int64_t width = replaced ? config.d_model : config.embedding_width();
  dense_ = register_module("dense", xavier_linear(config.d_model, width, true));
  if (replaced) {
    prediction_ = register_module("prediction", xavier_linear(width, 1, true));
  } else {
    const double epsilon = config.head_epsilon > 0 ? config.head_epsilon : config.norm_epsilon;
    norm_ = register_module("norm", Norm(config, width, epsilon));
  }
}

torch::Tensor MaskedHeadImpl::forward(const torch::Tensor& states) {
  if (!norm_) throw std::logic_error("a model without a head for masked tokens predicts none");
  return norm_(activate(activation_, kernels::linear(states, dense_->weight, dense_->bias)));
}

torch::Tensor MaskedHeadImpl::replaced(const torch::Tensor& states) {
  if (!prediction_) return {};
  return prediction_(activate(activation_, kernels::linear(states, dense_->weight, dense_->bias))).squeeze(2);
}

// ---- the whole model

Transformer::Transformer(const ModelConfig& config, std::int64_t vocab_size) : SequenceModel(config, vocab_size) {
  make_embeddings();
  if (config.has_encoder()) {
    source_positions_ = make_added_positions(*this, "source_positions", config);
    if (config.token_types > 0) {
      token_types_ = register_parameter("token_types", torch::empty({config.token_types, config.embedding_width()}));
      begin_small(token_types_);
    }
    if (config.embedding_norm) embedding_norm_ = register_module("embedding_norm", embedding_norm(config));
    if (config.embedding_width() != config.d_model)
      widening_ = register_module("widening", xavier_linear(config.embedding_width(), config.d_model, true));
    encoder_ = register_module("encoder", Stack(config, config.num_encoder_layers, false, false));
  }
  if (config.has_decoder()) {
    target_positions_ = make_added_positions(*this, "target_positions", config);
    if (config.embedding_norm)
      target_embedding_norm_ = register_module(config.has_encoder() ? "target_embedding_norm" : "embedding_norm",
                                               embedding_norm(config));
    decoder_ = register_module("decoder", Stack(config, config.num_decoder_layers, true, config.has_encoder()));
  } else if (config.is_masked_lm()) {
    head_ = register_module("head", MaskedHead(config));
  } else {
    pooling_ = register_module("pooling", Pooling(config.pooling, config.d_model));
  }
  make_output();
}

torch::Tensor Transformer::embed_from(const torch::nn::Embedding& embedding, const AddedPositions& positions,
                                      const torch::Tensor& ids, std::int64_t first, bool with_positions,
                                      const kernels::Packing& packing) {
  const torch::Tensor added = positions && with_positions ? positions(first, first + ids.size(1)) : torch::Tensor();
  if (!packing) return embed(embedding, ids, added);
  return embed(embedding, packing.packed(ids), added.defined() ? packing.by_position(added) : added);
}

// Sentence B of a pair begins after the first end token: [CLS] a [SEP] b [SEP] has types 0…0 1…1.
torch::Tensor Transformer::completed(torch::Tensor embedded, const torch::Tensor& ids, Norm& norm) {
  if (token_types_.defined()) {
    const torch::Tensor ends = ids.eq(config_.end_id).to(torch::kInt64);
    embedded = embedded + torch::embedding(token_types_, (ends.cumsum(1) - ends).clamp_max(token_types_.size(0) - 1));
  }
  if (norm) embedded = norm(embedded);
  if (norm || token_types_.defined()) embedded = kernels::dropout(embedded, dropout());
  return widening_ ? kernels::linear(embedded, widening_->weight, widening_->bias) : embedded;
}

bool Transformer::packs(const Inspection* inspection) const {
  const bool learns = is_training() && torch::GradMode::is_enabled();
  return packs_ && learns && config_.window == 0 && config_.score_cap == 0 && encoder_ && decoder_ && !inspection &&
         kernels::is_fused(output_weight_);
}

Memory Transformer::encode(const torch::Tensor& source, const torch::Tensor& padding, Inspection* inspection) {
  const torch::Tensor ids = replaced_ids(inspection, source, false, 0);
  const kernels::Packing packing =
      packs(inspection) && padding.defined() ? kernels::packing_of(padding) : kernels::Packing();
  const torch::Tensor embedded =
      completed(embed_from(source_embedding_, source_positions_, ids, 0, uses_positions(inspection), packing), ids,
                embedding_norm_);
  return {encoder_(embedded, Memory(), padding, nullptr, inspection, packing), padding, {}, packing};
}

torch::Tensor Transformer::decode(const torch::Tensor& target_in, const Memory& memory, DecoderCache* cache,
                                  Inspection* inspection) {
  if (head_) return head_(memory.states);
  if (!decoder_) {
    if (cache) cache->length += target_in.size(1);
    return kernels::dropout(pooling_(memory, target_in.size(1), inspection), dropout());
  }
  const std::int64_t first = cache ? cache->length : 0;
  const torch::Tensor ids = replaced_ids(inspection, target_in, true, first);
  const bool with_positions = encoder_ || uses_positions(inspection);
  const kernels::Packing packing =
      packs(inspection) && !cache ? kernels::packing_of(padding_of(ids, config_.padding_id)) : kernels::Packing();
  torch::Tensor embedded = embed_from(target_embedding_, target_positions_, ids, first, with_positions, packing);
  if (target_embedding_norm_) embedded = kernels::dropout(target_embedding_norm_(embedded), dropout());
  return decoder_(embedded, memory, torch::Tensor(), cache, inspection, packing);
}

torch::Tensor Transformer::replaced(const Memory& memory) {
  return head_ ? head_->replaced(memory.states) : torch::Tensor();
}

torch::Tensor Transformer::finished(const torch::Tensor& hidden) {
  if (head_) return head_(hidden);
  return decoder_ ? decoder_->finished(hidden) : hidden;
}

std::vector<PositionTensor> Transformer::positions() {
  const auto added = [&](const AddedPositions& positions) { return positions(0, config_.max_length); };
  // Computed tensors (non-parameter vectors, rotations) are equal on both sides and listed once.
  if (source_positions_ && target_positions_ && named_parameters(false).contains("source_positions")) {
    return {{"source", 0, added(source_positions_)}, {"target", 0, added(target_positions_)}};
  }
  if (target_positions_) return {{"", 0, added(target_positions_)}};
  if (source_positions_) return {{"", 0, added(source_positions_)}};
  if (position_scheme(config_.positions).form == PositionForm::rotation)
    return (decoder_ ? decoder_ : encoder_)->positions("");
  std::vector<PositionTensor> tables;
  if (encoder_) tables = encoder_->positions("encoder");
  if (!decoder_) return tables;
  const std::vector<PositionTensor> decoder = decoder_->positions("decoder");
  tables.insert(tables.end(), decoder.begin(), decoder.end());
  return tables;
}

RelativePositions Transformer::relative_positions(AttentionPart stack, std::int64_t length) {
  return (stack == AttentionPart::encoder ? encoder_ : decoder_)->relative_positions(length);
}

void Transformer::set_dropout(double dropout) {
  SequenceModel::set_dropout(dropout);
  if (encoder_) encoder_->set_dropout(dropout);
  if (decoder_) decoder_->set_dropout(dropout);
}

void Transformer::set_recompute(bool recompute) {
  if (encoder_) encoder_->set_recompute(recompute);
  if (decoder_) decoder_->set_recompute(recompute);
}

}  // namespace attnscope
