#include "training/adam.h"

#include <cmath>

#include "model/kernels/backend.h"
#include "model/kernels/processor.h"
#include "model/kernels/thread_pool.h"

namespace attnscope {
namespace {

constexpr double beta1 = 0.9;
constexpr double epsilon = 1e-9;

}  // namespace

Adam::Adam(torch::nn::Module& module, double beta2) : beta2_(beta2) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> flat;
  for (const auto& item : module.named_parameters()) {
    flat.push_back(item.value().detach().flatten());
    shapes_.emplace_back(item.key(), item.value().sizes().vec());
  }
  parameters_ = torch::cat(flat);
  gradients_ = {torch::zeros_like(parameters_)};
  exp_avg_ = torch::zeros_like(parameters_);
  exp_avg_sq_ = torch::zeros_like(parameters_);
  bind(module, gradients_[0]);
}

void Adam::bind(torch::nn::Module& module, const torch::Tensor& gradients) const {
  torch::NoGradGuard no_grad;
  std::int64_t begin = 0;
  for (auto& item : module.named_parameters()) {
    torch::Tensor& parameter = item.value();
    const std::int64_t end = begin + parameter.numel();
    parameter.set_data(parameters_.slice(0, begin, end).view(parameter.sizes()));
    parameter.mutable_grad() = gradients.slice(0, begin, end).view(parameter.sizes());
    begin = end;
  }
}

void Adam::share_with(torch::nn::Module& contrast) {
  bind(contrast, gradients_.emplace_back(torch::zeros_like(parameters_)));
}

void Adam::zero_gradients() {
  if (!zero_) {
    for (const torch::Tensor& gradients : gradients_) gradients.zero_();
  }
  zero_ = false;  // requested before a backward pass
}

template <typename Work>
void Adam::share_out(Work work) {
  const std::int64_t n = parameters_.numel();
  const auto shares = static_cast<int>(gradients_.size());
  kernels::pool()->run(shares, [&](int i) { work(i, n * i / shares, n * (i + 1) / shares); });
}

double Adam::gather_gradients() {
  if (!kernels::is_fused(parameters_)) return composed_norm().item<double>();
  std::vector<double> squares(gradients_.size());
  share_out([&](int i, std::int64_t first, std::int64_t last) {
    std::vector<float*> parts;
    for (const torch::Tensor& gradients : gradients_) parts.push_back(gradients.data_ptr<float>() + first);
    squares[i] = kernels::loops().gather_gradients(last - first, static_cast<int>(parts.size()), parts.data());
  });
  double sum = 0;
  for (const double part : squares) sum += part;
  return std::sqrt(sum);
}

torch::Tensor Adam::composed_norm() {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 1; i < gradients_.size(); ++i) {
    gradients_[0] += gradients_[i];
    gradients_[i].zero_();
  }
  return gradients_[0].norm();
}

torch::Tensor Adam::matrix_mask() const {
  torch::Tensor mask = torch::zeros_like(parameters_);
  std::int64_t begin = 0;
  for (const auto& [name, shape] : shapes_) {
    const std::int64_t end = begin + c10::multiply_integers(shape);
    if (shape.size() >= 2) mask.slice(0, begin, end).fill_(1);
    begin = end;
  }
  return mask;
}

Adam::Pace Adam::next_pace(double learning_rate, double weight_decay) {
  ++updates_;
  // A mask costs one more pass, but preserves the parameter order, which is that of the files.
  if (weight_decay > 0 && !decayed_.defined()) decayed_ = matrix_mask();
  zero_ = true;
  return {learning_rate / (1 - std::pow(beta1, static_cast<double>(updates_))),
          std::sqrt(1 - std::pow(beta2_, static_cast<double>(updates_))), learning_rate * weight_decay};
}

void Adam::update(double learning_rate, double weight_decay, double gradient_scale) {
  const torch::NoGradGuard no_grad;
  const Pace pace = next_pace(learning_rate, weight_decay);
  if (!kernels::is_fused(parameters_)) {
    const torch::Tensor wanted = torch::ones({}, parameters_.options().dtype(torch::kBool));
    return update_composed(pace, torch::full({}, gradient_scale, parameters_.options()), wanted);
  }
  const AdamRule rule{static_cast<float>(beta1),     static_cast<float>(beta2_),
                      static_cast<float>(epsilon),   static_cast<float>(gradient_scale),
                      static_cast<float>(pace.step), static_cast<float>(pace.root_correction)};
  share_out([&](int, std::int64_t first, std::int64_t last) {
    const auto from = [first = first](const torch::Tensor& tensor) {
      return tensor.defined() ? tensor.data_ptr<float>() + first : nullptr;
    };
    kernels::loops().adam(rule, last - first, static_cast<float>(pace.decay), from(decayed_), from(parameters_),
                          from(gradients_[0]), from(exp_avg_), from(exp_avg_sq_));
  });
}

torch::Tensor Adam::update_if_finite(double learning_rate, double weight_decay, double clip_norm,
                                     const torch::Tensor& loss) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor norm = composed_norm();
  const torch::Tensor finite = torch::isfinite(loss) & torch::isfinite(norm);
  const torch::Tensor scale = clip_norm > 0 ? (clip_norm / norm).clamp_max(1) : torch::ones_like(norm);
  update_composed(next_pace(learning_rate, weight_decay), scale, finite);
  return torch::stack({loss.to(torch::kFloat64), norm.to(torch::kFloat64)});
}

void Adam::take_back() {
  --updates_;
}

void Adam::update_composed(const Pace& pace, const torch::Tensor& gradient_scale, const torch::Tensor& wanted) {
  const torch::Tensor& gradients = gradients_[0].mul_(gradient_scale).masked_fill_(wanted.logical_not(), 0);
  const torch::Tensor share = wanted.to(parameters_.scalar_type());
  if (pace.decay > 0) parameters_.sub_(parameters_ * decayed_ * (share * pace.decay));
  exp_avg_.lerp_(gradients, share * (1 - beta1));
  exp_avg_sq_.lerp_(gradients.square(), share * (1 - beta2_));
  const torch::Tensor denominator = exp_avg_sq_.sqrt().div_(pace.root_correction).add_(epsilon);
  parameters_.sub_((exp_avg_ / denominator).mul_(share * pace.step));
  gradients.zero_();
}

std::vector<double> Adam::last_update_norms(double learning_rate) const {
  const torch::NoGradGuard no_grad;
  const double step = learning_rate / (1 - std::pow(beta1, static_cast<double>(updates_)));
  const double root_correction = std::sqrt(1 - std::pow(beta2_, static_cast<double>(updates_)));
  const torch::Tensor change = exp_avg_ * step / (exp_avg_sq_.sqrt().div_(root_correction).add_(epsilon));
  std::vector<double> norms;
  std::int64_t begin = 0;
  for (const auto& [name, shape] : shapes_) {
    const std::int64_t end = begin + c10::multiply_integers(shape);
    norms.push_back(change.slice(0, begin, end).norm().item<double>());
    begin = end;
  }
  return norms;
}

NamedTensors Adam::state() {
  NamedTensors named;
  const auto add = [&](const char* moment, const torch::Tensor& flat) {
    std::int64_t begin = 0;
    for (const auto& [name, shape] : shapes_) {
      const std::int64_t end = begin + c10::multiply_integers(shape);
      named.emplace_back(std::string(moment) + "." + name, flat.slice(0, begin, end).view(shape));
      begin = end;
    }
  };
  add("exp_avg", exp_avg_);
  add("exp_avg_sq", exp_avg_sq_);
  return named;
}

}  // namespace attnscope
