// One small model of every kind, for what must hold of each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model_fixture.h"

namespace attnscope {

struct NamedModel {
  std::string name;
  ModelConfig config;
};

inline std::vector<NamedModel> every_architecture() {
  std::vector<NamedModel> all;
  const auto add = [&](const std::string& name, const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = small_config();
    change(config);
    all.push_back({name, config});
  };
  for (const char* positions : {"none", "sinusoidal", "learned", "shaw", "t5", "rope", "alibi"}) {
    add(positions, [&](ModelConfig& c) { c.positions = positions; });
  }
  add("tied", [](ModelConfig& c) { c.tied_embeddings = true; });
  add("pre_norm_gelu", [](ModelConfig& c) {
    c.norm = "pre";
    c.activation = "gelu";
  });
  add("language_model", [](ModelConfig& c) { c.architecture = "decoder-only"; });
  for (const char* cell : {"rnn", "lstm", "gru"}) {
    for (const char* attention : {"none", "bahdanau", "luong-general"}) {
      add(std::string(cell) + "_" + attention, [&](ModelConfig& c) {
        c.architecture = "recurrent";
        c.cell = cell;
        c.attention = attention;
      });
    }
  }
  return all;
}

// A batch for any of them, the same at every call: ids of sources and targets with padding (0) in some rows.
struct SmallBatch {
  torch::Tensor source, source_padding, target_in, target_out;
};

// Longer and shorter than the rows of weights are padded to (key_padding).
inline SmallBatch small_batch() {
  torch::manual_seed(3);
  SmallBatch batch{random_ids(4, 18), growing_padding(4, 18), random_ids(4, 19), random_ids(4, 19)};
  for (const torch::Tensor& ids : {batch.target_in, batch.target_out}) ids.slice(0, 0, 2).slice(1, 5).fill_(0);
  return batch;
}

// The gradient of every parameter of the batch's loss, with label smoothing.
inline std::vector<torch::Tensor> gradients_of_small_batch(SequenceModel& model) {
  const SmallBatch batch = small_batch();
  const auto there = [&](const torch::Tensor& tensor) { return tensor.to(model.device()); };
  const Memory memory =
      model.config().is_language_model() ? Memory() : model.encode(there(batch.source), there(batch.source_padding));
  model.zero_grad();
  model.loss(model.decode(there(batch.target_in), memory), there(batch.target_out), 0.1).backward();
  std::vector<torch::Tensor> gradients;
  for (const torch::Tensor& parameter : model.parameters()) gradients.push_back(parameter.grad().clone());
  return gradients;
}

inline double largest_of(const std::vector<torch::Tensor>& tensors) {
  double largest = 0;
  for (const torch::Tensor& tensor : tensors) largest = std::max(largest, tensor.abs().max().item<double>());
  return largest;
}

}  // namespace attnscope
