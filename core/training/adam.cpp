#include "training/adam.h"

#include <cmath>

namespace attnscope {
namespace {

constexpr double beta1 = 0.9;
constexpr double epsilon = 1e-9;

}  // namespace

Adam::Adam(torch::nn::Module& module, double beta2) : beta2_(beta2) {
  torch::NoGradGuard no_grad;
  std::int64_t size = 0;
  for (const torch::Tensor& parameter : module.parameters()) size += parameter.numel();
  parameters_ = torch::empty({size}, module.parameters().front().options().requires_grad(false));
  gradients_ = torch::zeros_like(parameters_);
  exp_avg_ = torch::zeros_like(parameters_);
  exp_avg_sq_ = torch::zeros_like(parameters_);
  std::int64_t begin = 0;
  for (auto& item : module.named_parameters()) {
    torch::Tensor& parameter = item.value();
    const std::int64_t end = begin + parameter.numel();
    const torch::Tensor storage = parameters_.slice(0, begin, end).view(parameter.sizes());
    storage.copy_(parameter);
    parameter.set_data(storage);
    parameter.mutable_grad() = gradients_.slice(0, begin, end).view(parameter.sizes());
    shapes_.emplace_back(item.key(), parameter.sizes().vec());
    begin = end;
  }
}

void Adam::zero_gradients() {
  gradients_.zero_();
}

double Adam::clip(double clip_norm) {
  const double norm = gradients_.norm().item<double>();
  if (clip_norm > 0 && norm > clip_norm) gradients_.mul_(clip_norm / norm);
  return norm;
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

void Adam::update(double learning_rate, double weight_decay) {
  torch::NoGradGuard no_grad;
  if (weight_decay > 0) {
    // A mask costs one more pass, but leaves the order of the parameters, and so the rounding of their norm, alone.
    if (!decayed_.defined()) decayed_ = matrix_mask();
    parameters_.addcmul_(parameters_, decayed_, -learning_rate * weight_decay);
  }
  ++updates_;
  const double correction1 = 1 - std::pow(beta1, static_cast<double>(updates_));
  const double correction2 = 1 - std::pow(beta2_, static_cast<double>(updates_));
  exp_avg_.lerp_(gradients_, 1 - beta1);
  exp_avg_sq_.mul_(beta2_).addcmul_(gradients_, gradients_, 1 - beta2_);
  const torch::Tensor denominator = exp_avg_sq_.sqrt().div_(std::sqrt(correction2)).add_(epsilon);
  parameters_.addcdiv_(exp_avg_, denominator, -learning_rate / correction1);
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
