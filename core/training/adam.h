#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/libtorch.h"

namespace attnscope {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

// Adam (Kingma & Ba, arXiv 1412.6980) with β1 0.9 and ε 1e-9 (§5.3), and with weight decay AdamW (1711.05101).
//
// All parameters are moved into one buffer, all gradients into another, and stay views of them: an update is one pass
// over a few long vectors, shared out to the team of threads, instead of a dozen small operations a parameter.
class Adam {
 public:
  // The module must be on its final device already, and must not be moved afterwards.
  Adam(torch::nn::Module& module, double beta2);

  // The parameters of `twin`, a module of the same make, become the first module's; its gradients are its own, and are
  // added to the first's by gather_gradients.
  void share_with(torch::nn::Module& contrast);

  // The gradients become 0, unless an update left them so.
  void zero_gradients();

  // The norm of the gradient, to which the twins' are added.
  double gather_gradients();

  // All parameters, and all of their gradient: one long vector each, in the order of the files.
  const torch::Tensor& parameters() const { return parameters_; }
  const torch::Tensor& gradient() const { return gradients_.front(); }

  // With `weight_decay` every matrix first loses learning_rate · weight_decay of itself, apart from its gradient and
  // its moments; vectors, which are biases and gains, lose nothing. The gradient, which is 0 afterwards, counts
  // `gradient_scale` times.
  void update(double learning_rate, double weight_decay = 0, double gradient_scale = 1);

  // All of it on the device, with nothing read: the gradient is clipped to `clip_norm` (0: it is not), and the update
  // is left out if the loss (one number) or the gradient's norm is not finite. Returns the two, float64.
  torch::Tensor update_if_finite(double learning_rate, double weight_decay, double clip_norm,
                                 const torch::Tensor& loss);

  // After an update that was left out, the newest: as if it had not been asked for.
  void take_back();

  // ‖Δw‖ of every parameter in the newest update, apart from weight decay: from the moments that it left. There must
  // have been one.
  std::vector<double> last_update_norms(double learning_rate) const;

  // First and second moments, named exp_avg.<parameter> and exp_avg_sq.<parameter>: views, to be saved or copied into.
  NamedTensors state();

  torch::Device device() const { return parameters_.device(); }
  std::int64_t updates() const { return updates_; }
  void set_updates(std::int64_t updates) { updates_ = updates; }

 private:
  // The module's parameters become views of ours, its gradients of `gradients`.
  void bind(torch::nn::Module& module, const torch::Tensor& gradients) const;
  torch::Tensor matrix_mask() const;
  // What an update goes by besides its gradient.
  struct Pace {
    double step = 0, root_correction = 0, decay = 0;
  };
  Pace next_pace(double learning_rate, double weight_decay);
  // `wanted`: one bool; false leaves all as it is.
  void update_composed(const Pace& pace, const torch::Tensor& gradient_scale, const torch::Tensor& wanted);
  torch::Tensor composed_norm();
  // Calls work(first, last) for each thread's share of the elements.
  template <typename Work>
  void share_out(Work work);

  double beta2_;
  torch::Tensor parameters_, exp_avg_, exp_avg_sq_;  // one number a parameter element
  std::vector<torch::Tensor> gradients_;             // as long; the first module's, then its twins'
  torch::Tensor decayed_;                            // 1 in matrices, else 0; made by the first decay
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes_;
  std::int64_t updates_ = 0;
  bool zero_ = true;  // the gradients are
};

}  // namespace attnscope
