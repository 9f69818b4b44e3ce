#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/kernels/libtorch.h"

namespace attnscope {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

// Adam (Kingma & Ba, arXiv 1412.6980) with β1 0.9 and ε 1e-9 (§5.3), and with weight decay AdamW (1711.05101).
//
// All parameters are moved into one buffer, all gradients into another, and the originals become views of them: a step
// is one pass over a few long vectors, divided among the thread pool, instead of a dozen small operations per
// parameter.
class Adam {
 public:
  // The module must already be on its final device, and must not be moved afterwards.
  Adam(torch::nn::Module& module, double beta2);

  // Makes the parameters of the given module, which has the same architecture, views of the first module's. It has its
  // own gradients, which gather_gradients adds to the first module's.
  void share_with(torch::nn::Module& contrast);

  // Sets the gradients to 0, unless a step already did.
  void zero_gradients();

  // Adds the gradients of the sharing modules to the first's, and returns the norm of the sum.
  double gather_gradients();

  // All parameters and their gradients: one long vector each, in the order of the files.
  const torch::Tensor& parameters() const { return parameters_; }
  const torch::Tensor& gradient() const { return gradients_.front(); }

  // Performs one step. With `weight_decay` every matrix first loses learning_rate · weight_decay of itself, independent
  // of gradient and moments (decoupled); vectors, i.e. biases and gains, do not decay. The gradient is multiplied by
  // `gradient_scale` and is 0 afterwards.
  void update(double learning_rate, double weight_decay = 0, double gradient_scale = 1);

  // Runs entirely on the device without reading anything back: clips the gradient to `clip_norm` (0: no clipping), and
  // skips the step if the loss (one number) or the gradient's norm is not finite. Returns both, float64.
  torch::Tensor update_if_finite(double learning_rate, double weight_decay, double clip_norm,
                                 const torch::Tensor& loss);

  // Reverts the bookkeeping of the newest step after it was skipped.
  void take_back();

  // ‖Δw‖ of every parameter in the newest step without weight decay, computed from the moments. There must have been a
  // step.
  std::vector<double> last_update_norms(double learning_rate) const;

  // First and second moments, named exp_avg.<parameter> and exp_avg_sq.<parameter>: views that can be saved or copied
  // into.
  NamedTensors state();

  torch::Device device() const { return parameters_.device(); }
  std::int64_t updates() const { return updates_; }
  void set_updates(std::int64_t updates) { updates_ = updates; }

 private:
  // Makes the module's parameters views of ours, and its gradients views of `gradients`.
  void bind(torch::nn::Module& module, const torch::Tensor& gradients) const;
  torch::Tensor matrix_mask() const;
  // The scalars of a step, except the gradient.
  struct Pace {
    double step = 0, root_correction = 0, decay = 0;
  };
  Pace next_pace(double learning_rate, double weight_decay);
  // `wanted`: one bool; false changes nothing.
  void update_composed(const Pace& pace, const torch::Tensor& gradient_scale, const torch::Tensor& wanted);
  torch::Tensor composed_norm();
  // Calls work(first, last) for each thread's share of the elements.
  template <typename Work>
  void share_out(Work work);

  double beta2_;
  torch::Tensor parameters_, exp_avg_, exp_avg_sq_;  // one number per parameter element
  std::vector<torch::Tensor> gradients_;  // of the same length; the first module's, then those of the sharing modules
  torch::Tensor decayed_;                 // 1 in matrices, else 0; created by the first decay
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes_;
  std::int64_t updates_ = 0;
  bool zero_ = true;  // the gradients are all zero
};

}  // namespace attnscope
