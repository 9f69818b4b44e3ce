// The norm of the sublayers and the final norm of a stack: LayerNorm (1607.06450) or RMSNorm (1910.07467), or
// none.
#pragma once

#include "config/config.h"
#include "model/kernels/libtorch.h"

namespace attnscope {

enum class NormKind { layer, rms, none };

// The kind that model.norm_kind names; throws ConfigError if there is none.
NormKind norm_kind(const ModelConfig& config);

// Parameters are named as in torch::nn::LayerNorm: weight (D), and bias (D) only for LayerNorm. With
// model.norm_kind=none it has no parameters and returns its input.
class NormImpl : public torch::nn::Module {
 public:
  explicit NormImpl(const ModelConfig& config);
  NormImpl(const ModelConfig& config, std::int64_t width, double epsilon);

  torch::Tensor forward(const torch::Tensor& x);  // …×D → …×D
  // Normalizes x + dropout(added).
  torch::Tensor of_sum(const torch::Tensor& x, const torch::Tensor& added, double dropout);

 private:
  double epsilon_;
  torch::Tensor weight_, bias_;  // bias undefined: RMSNorm; both: no norm
};
TORCH_MODULE(Norm);

}  // namespace attnscope
