#include "model/norm.h"

#include "model/kernels/norm.h"

namespace attnscope {

NormKind norm_kind(const ModelConfig& config) {
  if (config.norm_kind == "layer") return NormKind::layer;
  if (config.norm_kind == "rms") return NormKind::rms;
  if (config.norm_kind == "none") return NormKind::none;
  throw ConfigError("unknown norm \"" + config.norm_kind + '"');
}

NormImpl::NormImpl(const ModelConfig& config) : NormImpl(config, config.d_model, config.norm_epsilon) {}

NormImpl::NormImpl(const ModelConfig& config, std::int64_t width, double epsilon) : epsilon_(epsilon) {
  if (!config.has_norms()) return;
  weight_ = register_parameter("weight", torch::ones({width}));
  if (norm_kind(config) == NormKind::layer) bias_ = register_parameter("bias", torch::zeros({width}));
}

torch::Tensor NormImpl::forward(const torch::Tensor& x) {
  if (!weight_.defined()) return x;
  return bias_.defined() ? kernels::layer_norm(x, {weight_, bias_, epsilon_}) : kernels::rms_norm(x, weight_, epsilon_);
}

torch::Tensor NormImpl::of_sum(const torch::Tensor& x, const torch::Tensor& added, double dropout) {
  if (!weight_.defined()) return kernels::add_dropped(x, added, dropout);
  return bias_.defined() ? kernels::add_and_norm(x, added, {weight_, bias_, epsilon_}, dropout)
                         : kernels::rms_norm(kernels::add_dropped(x, added, dropout), weight_, epsilon_);
}

}  // namespace attnscope
