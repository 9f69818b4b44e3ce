#include "model/model.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "model/initial_values.h"
#include "model/kernels/cross_entropy.h"
#include "model/kernels/embedding.h"
#include "model/kernels/linear.h"
#include "model/recurrent.h"
#include "model/transformer.h"

namespace attnscope {
namespace {

constexpr double no_label = -1e4;  // a logit whose exponential is 0, but with which no arithmetic becomes infinite

void select_rows(torch::Tensor& tensor, const torch::Tensor& rows) {
  if (tensor.defined()) tensor = tensor.index_select(0, rows);
}

torch::nn::Embedding embedding(std::int64_t vocab_size, const ModelConfig& config) {
  const std::int64_t width = config.embedding_width();
  torch::nn::EmbeddingOptions options(vocab_size, width);
  if (WithoutInitialValues::in_force()) options._weight(torch::empty({vocab_size, width}));
  torch::nn::Embedding made(options);
  if (WithoutInitialValues::in_force()) return made;
  torch::NoGradGuard no_grad;
  if (config.embedding_norm) {
    begin_small(made->weight);
  } else if (begins_by_xavier(config)) {
    torch::nn::init::xavier_uniform_(made->weight);
  } else {
    // Scaling by √D at the input gives unit variance; as an output matrix the values are small enough (§3.4).
    torch::nn::init::normal_(made->weight, 0, 1.0 / std::sqrt(static_cast<double>(width)));
  }
  if (config.padding_id >= 0) made->weight[config.padding_id].zero_();
  return made;
}

}  // namespace

Memory Memory::repeated(std::int64_t rows) const {
  const auto expanded = [&](const torch::Tensor& tensor) {
    std::vector<std::int64_t> sizes = tensor.sizes().vec();
    sizes[0] = rows;
    return tensor.expand(sizes);
  };
  Memory memory;
  if (states.defined()) memory.states = expanded(states);
  if (padding.defined()) memory.padding = expanded(padding);
  for (const torch::Tensor& state : last) memory.last.push_back(expanded(state));
  return memory;
}

void DecoderCache::select(const torch::Tensor& rows) {
  for (torch::Tensor& layer : self) select_rows(layer, rows);
  for (torch::Tensor& layer : cross) select_rows(layer, rows);
  for (torch::Tensor& tensor : state) select_rows(tensor, rows);
}

SequenceModel::SequenceModel(const ModelConfig& config, std::int64_t vocab_size)
    : config_(config), vocab_size_(vocab_size) {}

bool begins_by_xavier(const ModelConfig& config) {
  return !config.is_recurrent() && config.initialization == "xavier";
}

void SequenceModel::make_embeddings() {
  const auto made = [&](const char* name) { return register_module(name, embedding(vocab_size_, config_)); };
  if (config_.has_one_embedding()) {
    source_embedding_ = target_embedding_ = made("embedding");
  } else {
    source_embedding_ = made("source_embedding");
    target_embedding_ = made("target_embedding");
  }
}

void SequenceModel::make_output() {
  const std::int64_t rows = vocab_size_ - first_output();
  if (config_.has_tied_output()) {
    output_weight_ = target_embedding_->weight;
  } else {
    output_weight_ = register_parameter("output_weight", torch::empty({rows, config_.embedding_width()}));
    begin_by_xavier(output_weight_);
  }
  if (config_.output_bias) output_bias_ = register_parameter("output_bias", torch::zeros({rows}));
}

double SequenceModel::embedding_factor() const {
  return config_.scaled_embeddings ? std::sqrt(static_cast<double>(config_.d_model)) : 1;
}

torch::Tensor SequenceModel::output_input(const torch::Tensor& features) const {
  return config_.scaled_output ? features / std::sqrt(static_cast<double>(config_.d_model)) : features;
}

torch::Tensor SequenceModel::capped(const torch::Tensor& logits) const {
  const double cap = config_.logit_cap;
  return cap > 0 ? torch::tanh(logits / cap) * cap : logits;
}

torch::Tensor SequenceModel::embed(const torch::nn::Embedding& embedding, const torch::Tensor& ids,
                                   const torch::Tensor& positions) {
  const double dropped = config_.embedding_norm || config_.token_types > 0 ? 0 : dropout();  // it follows the norm
  return kernels::embed(ids, embedding->weight, embedding_factor(), positions, config_.padding_id, dropped);
}

torch::Tensor SequenceModel::logits(const torch::Tensor& features) {
  return capped(uncapped_logits(features));
}

torch::Tensor SequenceModel::uncapped_logits(const torch::Tensor& features) {
  const torch::Tensor scores = kernels::linear(output_input(features), output_weight_, output_bias_);
  return first_output() == 0 ? scores : torch::constant_pad_nd(scores, {first_output(), 0}, no_label);
}

torch::Tensor SequenceModel::writable(torch::Tensor scores) const {
  if (config_.banned_id >= 0) scores.select(-1, config_.banned_id).fill_(-std::numeric_limits<double>::infinity());
  return scores;
}

torch::Tensor SequenceModel::loss(const torch::Tensor& features, const torch::Tensor& target_out,
                                  double label_smoothing) {
  torch::Tensor targets = target_out.flatten() - first_output();
  const torch::Tensor inputs = output_input(features.flatten(0, 1));
  const std::int64_t padding = config_.padding_id - first_output();
  if (inputs.size(0) != targets.size(0)) targets = targets.masked_select(targets.ne(padding));  // packed
  if (output_bias_.defined() || config_.logit_cap > 0) {
    const torch::Tensor scores = capped(kernels::linear(inputs, output_weight_, output_bias_));
    return kernels::smoothed_cross_entropy(scores, targets, label_smoothing, padding);
  }
  return kernels::projected_cross_entropy(inputs, output_weight_, targets, label_smoothing, padding);
}

torch::Tensor SequenceModel::embedding_rows(EmbeddingMatrix matrix) const {
  return named_parameters()[embedding_parameter(matrix, config_)].detach();
}

std::string embedding_parameter(EmbeddingMatrix matrix, const ModelConfig& config) {
  const bool one_embedding = config.has_one_embedding();
  if (matrix == EmbeddingMatrix::output && !config.has_tied_output()) return "output_weight";
  if (one_embedding) return "embedding.weight";
  return matrix == EmbeddingMatrix::source ? "source_embedding.weight" : "target_embedding.weight";
}

void SequenceModel::set_dropout(double dropout) {
  config_.dropout = dropout;
}

void SequenceModel::freeze() {
  eval();
  for (torch::Tensor& parameter : parameters()) parameter.requires_grad_(false);
}

void SequenceModel::check_standing_still() const {
  if (is_training() || output_weight_.requires_grad())
    throw std::logic_error("a model that is being trained cannot be inspected");
}

Model make_model(const ModelConfig& config, std::int64_t vocab_size) {
  if (config.is_recurrent()) return std::make_shared<Recurrent>(config, vocab_size);
  return std::make_shared<Transformer>(config, vocab_size);
}

}  // namespace attnscope
