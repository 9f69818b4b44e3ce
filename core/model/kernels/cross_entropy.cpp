#include "model/kernels/cross_entropy.h"

#include <algorithm>

#include "model/kernels/fused.h"
#include "model/kernels/product.h"

namespace attnscope::kernels {
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

  // d/dlogits = p − (1−ε)·onehot − ε/V, weighted by the target's share in the mean.
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

// The number of rows whose logits are computed together: few rows keep the product in cache until the softmax, many
// rows read a large weight matrix less often.
std::int64_t rows_at_once(const torch::Tensor& weight) {
  constexpr std::int64_t fits = 1 << 20;
  return weight.numel() <= fits ? 64 : 128;
}

// Iterates over the rows with a non-padding target, in groups.
class CountedRows {
 public:
  CountedRows(const torch::Tensor& features, const torch::Tensor& targets, std::int64_t padding_id)
      : features_(data(features)), columns_(features.size(1)), targets_(targets.data_ptr<std::int64_t>()) {
    for (std::int64_t i = 0; i < targets.numel(); ++i) {
      if (targets_[i] != padding_id) rows_.push_back(i);
    }
  }

  std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
  std::int64_t target(std::int64_t i) const { return targets_[rows_[i]]; }
  void read(std::int64_t first, std::int64_t count, float* to) const {
    for (std::int64_t i = 0; i < count; ++i) {
      std::copy_n(features_ + rows_[first + i] * columns_, columns_, to + i * columns_);
    }
  }
  void write(std::int64_t first, std::int64_t count, const float* from, float* to) const {
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(from + i * columns_, columns_, to + rows_[first + i] * columns_);
  }

 private:
  const float* features_;
  std::int64_t columns_;
  const std::int64_t* targets_;
  std::vector<std::int64_t> rows_;
};

// The weight in the layout that a product of many rows needs. Libraries reorder the matrix at every call, which is slow
// for a transposed one: with many calls, it is transposed once.
class OrderedWeight {
 public:
  OrderedWeight(const torch::Tensor& weight, std::int64_t num_calls) : view_{data(weight), weight.size(1), true} {
    constexpr std::int64_t many = 4;
    if (num_calls < many) return;
    transposed_ = transposed(weight, weight.size(0));
    view_ = {data(transposed_), weight.size(0)};
  }

  MatrixView view() const { return view_; }

 private:
  torch::Tensor transposed_;
  MatrixView view_;
};

// Only scaling follows the loss, so its gradients are computed in the forward pass.
class ProjectedCrossEntropy : public torch::autograd::Function<ProjectedCrossEntropy> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& given, const torch::Tensor& weight,
                               const torch::Tensor& given_targets, double smoothing, std::int64_t padding_id,
                               bool gradient) {
    const torch::Tensor features = given.contiguous(), targets = given_targets.contiguous();
    const CountedRows rows(features, targets, padding_id);
    const std::int64_t vocab_size = weight.size(0), d_model = weight.size(1);
    const std::int64_t at_once = rows_at_once(weight);
    const torch::Tensor logits = torch::empty({at_once, vocab_size}), read = torch::empty({at_once, d_model});
    const torch::Tensor feature_gradient = gradient ? torch::zeros_like(features) : torch::Tensor();
    const torch::Tensor weight_gradient = gradient ? torch::empty_like(weight) : torch::Tensor();
    const float share = 1.0F / static_cast<float>(std::max<std::int64_t>(1, rows.size()));
    if (gradient && rows.size() == 0) weight_gradient.zero_();
    const OrderedWeight ordered(weight, rows.size() / at_once);
    double loss = 0;
    for (std::int64_t first = 0; first < rows.size(); first += at_once) {
      const std::int64_t count = std::min(at_once, rows.size() - first);
      rows.read(first, count, data(read));
      multiply(count, vocab_size, d_model, {data(read), d_model}, ordered.view(), data(logits), false);
      for (std::int64_t i = 0; i < count; ++i) {
        loss += loops().cross_entropy_row(vocab_size, rows.target(first + i), static_cast<float>(smoothing), gradient,
                                          share, data(logits) + i * vocab_size);
      }
      if (!gradient) continue;
      multiply(vocab_size, d_model, count, {data(logits), vocab_size, true}, {data(read), d_model},
               data(weight_gradient), first > 0);
      multiply(count, d_model, vocab_size, {data(logits), vocab_size}, {data(weight), d_model}, data(read), false);
      rows.write(first, count, data(read), data(feature_gradient));
    }
    context->save_for_backward({feature_gradient, weight, weight_gradient});
    return torch::tensor(static_cast<float>(loss) * share);
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const float factor = gradients[0].item<float>();
    const ParameterGradient weight_gradient(saved[1]);
    if (float* sum = weight_gradient.data()) loops().add_scaled(saved[2].numel(), factor, data(saved[2]), sum);
    return {saved[0] * factor, weight_gradient.returned(), {}, {}, {}, {}};
  }
};

}  // namespace

torch::Tensor smoothed_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets, double label_smoothing,
                                     std::int64_t padding_id) {
  return SmoothedCrossEntropy::apply(logits, targets, label_smoothing, padding_id);
}

torch::Tensor projected_cross_entropy(const torch::Tensor& features, const torch::Tensor& weight,
                                      const torch::Tensor& targets, double label_smoothing, std::int64_t padding_id) {
  if (!is_fused(features)) {
    // autocast returns bfloat16
    const torch::Tensor logits = torch::linear(features, weight).to(features.scalar_type());
    return smoothed_cross_entropy(logits, targets, label_smoothing, padding_id);
  }
  const bool gradient = torch::GradMode::is_enabled() && (features.requires_grad() || weight.requires_grad());
  return ProjectedCrossEntropy::apply(features, weight, targets, label_smoothing, padding_id, gradient);
}

}  // namespace attnscope::kernels
