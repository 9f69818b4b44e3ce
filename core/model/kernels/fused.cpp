#include "model/kernels/fused.h"

namespace attnscope::kernels {

void keep_rule(AutogradContext* context, const DropoutRule& rule) {
  if (rule.threshold == 0) return;
  std::vector<std::int64_t> numbers(rule.key.words, rule.key.words + 4);
  numbers.push_back(rule.threshold);
  context->saved_data["dropout"] = numbers;
}

DropoutRule kept_rule(AutogradContext* context) {
  DropoutRule rule;
  const auto kept = context->saved_data.find("dropout");
  if (kept == context->saved_data.end()) return rule;
  const std::vector<std::int64_t> numbers = kept->second.toIntVector();
  for (int i = 0; i < 4; ++i) rule.key.words[i] = static_cast<std::uint32_t>(numbers[i]);
  rule.threshold = static_cast<std::uint32_t>(numbers[4]);
  rule.scale = 65536.0F / static_cast<float>(65536 - rule.threshold);
  return rule;
}

ParameterGradient::ParameterGradient(const torch::Tensor& parameter) {
  if (!is_there(parameter) || !parameter.requires_grad()) return;
  const torch::Tensor& gradient = parameter.grad();
  in_place_ = parameter.is_leaf() && gradient.defined() && gradient.is_contiguous() && gradient.device().is_cpu();
  sum_ = in_place_ ? gradient : torch::zeros_like(parameter, torch::MemoryFormat::Contiguous);
}

}  // namespace attnscope::kernels
