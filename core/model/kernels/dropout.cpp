#include "model/kernels/dropout.h"

#include <cmath>
#include <mutex>

#include "model/kernels/fused.h"
#include "model/kernels/processor.h"

namespace attnscope::kernels {
namespace {

thread_local std::optional<DropoutKey> scope_key;

DropoutKey random_key() {
  const torch::Tensor draws = torch::randint(std::int64_t{1} << 32, {4}, torch::kInt64);
  DropoutKey key;
  for (int i = 0; i < 4; ++i) key.words[i] = static_cast<std::uint32_t>(draws.data_ptr<std::int64_t>()[i]);
  return key;
}

void go_to(const DropoutPlace& place, torch::Device device) {
  if (device.is_cpu()) scope_key = place.key;
  if (!place.generator.defined()) return;
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_state(place.generator);
}

// The device's Philox generator gives every key an independent stream: keys only need to differ.
void restart_generator(torch::Device device, std::uint64_t seed, std::int64_t number, std::int64_t part) {
  constexpr std::uint64_t spread = 0x9E3779B97F4A7C15;  // 2⁶⁴ / golden ratio: separates neighboring seeds
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_current_seed(seed * spread + (static_cast<std::uint64_t>(number) << 16U) +
                             static_cast<std::uint64_t>(part));
}

class Dropout : public torch::autograd::Function<Dropout> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x, double p) {
    const DropoutRule rule = next_dropout(p);
    keep_rule(context, rule);
    return dropped(rule, x);
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list gradients) {
    return {dropped(kept_rule(context), gradients[0]), {}};
  }

  static torch::Tensor mask(const DropoutRule& rule, const torch::Tensor& x) {
    return dropped(rule, torch::ones(x.sizes()));
  }

 private:
  static torch::Tensor dropped(const DropoutRule& rule, const torch::Tensor& given) {
    const torch::Tensor x = given.contiguous();
    torch::Tensor y = torch::empty_like(x);
    loops().drop(rule, 1, x.numel(), x.data_ptr<float>(), y.data_ptr<float>());
    return y;
  }
};

}  // namespace

DropoutScope::DropoutScope(std::int64_t seed, std::int64_t number, std::int64_t part, std::int64_t drawn,
                           torch::Device device) {
  const auto words = static_cast<std::uint64_t>(seed);
  if (!device.is_cpu()) restart_generator(device, words, number, part);
  scope_key = DropoutKey{{static_cast<std::uint32_t>(words),
                          static_cast<std::uint32_t>(words >> 32U) ^ static_cast<std::uint32_t>(part << 16),
                          static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(drawn)}};
}

DropoutScope::~DropoutScope() {
  scope_key.reset();
}

DropoutPlace dropout_place(torch::Device device) {
  if (scope_key && device.is_cpu()) return {scope_key, {}};
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  return {std::nullopt, generator.get_state()};
}

DropoutAgain::DropoutAgain(const DropoutPlace& place, torch::Device device)
    : device_(device), before_(dropout_place(device)) {
  go_to(place, device);
}

DropoutAgain::~DropoutAgain() {
  go_to(before_, device_);
}

DropoutRule next_dropout(double p) {
  DropoutRule rule;
  rule.threshold = static_cast<std::uint32_t>(std::lround(p * 65536));
  if (rule.threshold == 0) return rule;
  rule.scale = 65536.0F / static_cast<float>(65536 - rule.threshold);
  rule.key = scope_key ? *scope_key : random_key();
  if (scope_key) ++scope_key->words[3];
  return rule;
}

torch::Tensor dropout_mask(const DropoutRule& rule, std::int64_t streams, std::int64_t n) {
  torch::Tensor mask = torch::empty({streams, n});
  for (std::int64_t i = 0; i < streams; ++i) {
    loops().dropout_mask(rule, static_cast<std::uint64_t>(i), n, mask.data_ptr<float>() + i * n);
  }
  return mask;
}

torch::Tensor dropout(const torch::Tensor& x, double p) {
  if (p == 0) return x;
  if (!x.device().is_cpu()) return torch::dropout(x, p, true);
  return is_fused(x) ? Dropout::apply(x, p) : x * Dropout::mask(next_dropout(p), x).to(x.scalar_type());
}

}  // namespace attnscope::kernels
