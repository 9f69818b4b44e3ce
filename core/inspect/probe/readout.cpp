#include "inspect/probe/readout.h"

#include <cmath>

namespace attnscope {

torch::Tensor parameter_named(const SequenceModel& model, const std::string& name) {
  const auto parameters = model.named_parameters();
  const torch::Tensor* found = parameters.find(name);
  return found ? found->detach().to(torch::kCPU, torch::kFloat32) : torch::Tensor();
}

torch::Tensor readout(const SequenceModel& model, bool decoder) {
  const ModelConfig& config = model.config();
  if (decoder != config.has_decoder() || config.is_classifier() || config.is_recurrent()) return {};
  if (config.is_masked_lm()) return {};  // its head has a hidden layer
  const torch::Tensor rows = model.embedding_rows(EmbeddingMatrix::output).to(torch::kCPU, torch::kFloat32);
  if (rows.size(1) != config.d_model) return {};  // the stream is projected to a smaller width first
  const std::string norm = decoder ? "decoder.norm" : "encoder.norm";
  torch::Tensor read = rows - rows.mean(0, true);
  if (const torch::Tensor gain = parameter_named(model, norm + ".weight"); gain.defined()) read = read * gain;
  if (config.scaled_output) read = read / std::sqrt(static_cast<double>(config.d_model));
  return parameter_named(model, norm + ".bias").defined() ? read - read.mean(1, true) : read;
}

}  // namespace attnscope
