#include "training/loss.h"

namespace attnscope {
namespace {

class SmoothedCrossEntropy : public torch::autograd::Function<SmoothedCrossEntropy> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& logits,
                               const torch::Tensor& targets, double smoothing, std::int64_t padding_id) {
    const double vocab_size = static_cast<double>(logits.size(1));
    const torch::Tensor log_p = torch::log_softmax(logits, 1);                     // N×V
    const torch::Tensor counted = targets.ne(padding_id).to(log_p.scalar_type());  // N
    const torch::Tensor count = counted.sum().clamp_min(1);
    const torch::Tensor nll = -log_p.gather(1, targets.unsqueeze(1)).squeeze(1);  // N
    const torch::Tensor spread = smoothing > 0 ? log_p.sum(1) * (-smoothing / vocab_size) : torch::zeros_like(nll);
    context->save_for_backward({log_p, targets, counted / count});
    context->saved_data["smoothing"] = smoothing;
    return (((1 - smoothing) * nll + spread) * counted).sum() / count;
  }

  // d/dlogits = p − (1−ε)·onehot − ε/V, weighted by the target's share of the mean.
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const double smoothing = context->saved_data["smoothing"].toDouble();
    torch::Tensor gradient = saved[0].exp();  // N×V
    const torch::Tensor share = saved[2] * gradients[0];
    gradient.sub_(smoothing / static_cast<double>(gradient.size(1)));
    gradient.mul_(share.unsqueeze(1));
    gradient.scatter_add_(1, saved[1].unsqueeze(1), share.unsqueeze(1) * -(1 - smoothing));
    return {gradient, {}, {}, {}};
  }
};

}  // namespace

torch::Tensor smoothed_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets, double label_smoothing,
                                     std::int64_t padding_id) {
  return SmoothedCrossEntropy::apply(logits, targets, label_smoothing, padding_id);
}

}  // namespace attnscope
