// Dropout whose mask is a function of a key: made anew by the backward pass instead of kept, and the same whatever
// thread computes it.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/libtorch.h"
#include "kernels/simd/loops.h"

namespace attnscope::kernels {

// While it lives, the dropouts of this thread draw from (seed, number, part), one after the other, as if `drawn` had
// been already; without one, from torch's random generator. On another device than the CPU its generator, which then
// goes on, begins anew from seed, number and part.
class DropoutScope {
 public:
  DropoutScope(std::int64_t seed, std::int64_t number, std::int64_t part, std::int64_t drawn = 0,
               torch::Device device = torch::kCPU);
  ~DropoutScope();
  DropoutScope(const DropoutScope&) = delete;
  DropoutScope& operator=(const DropoutScope&) = delete;
};

// Where a thread's dropouts stand.
struct DropoutPlace {
  std::optional<DropoutKey> key;  // within a DropoutScope, on the CPU
  torch::Tensor generator;        // otherwise the state of the device's random generator
};

// Of this thread, for dropouts on the device.
DropoutPlace dropout_place(torch::Device device);

// While it lives, this thread's dropouts draw what they drew from `place` on; then they go on where they were.
class DropoutAgain {
 public:
  DropoutAgain(const DropoutPlace& place, torch::Device device);
  ~DropoutAgain();
  DropoutAgain(const DropoutAgain&) = delete;
  DropoutAgain& operator=(const DropoutAgain&) = delete;

 private:
  torch::Device device_;
  DropoutPlace before_;
};

// The next dropout with probability p, 0 ≤ p < 1, in steps of 1/65536.
DropoutRule next_dropout(double p);

// 0 or 1/(1−p) for `streams` streams of n elements each: streams×n, on the CPU.
torch::Tensor dropout_mask(const DropoutRule& rule, std::int64_t streams, std::int64_t n);

// x · mask, mean-preserving; x itself if p is 0.
torch::Tensor dropout(const torch::Tensor& x, double p);

}  // namespace attnscope::kernels
