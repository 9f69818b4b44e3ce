// Dropout whose mask is a function of a key: the backward pass recomputes it instead of storing it, and it does not
// depend on the thread.
#pragma once

#include <cstdint>
#include <optional>

#include "model/kernels/libtorch.h"
#include "model/kernels/simd/loops.h"

namespace attnscope::kernels {

// While it lives, this thread's dropouts draw successively from (seed, number, part), starting after the first `drawn`;
// outside any scope they use torch's random generator. On devices other than the CPU, the device's generator is
// reseeded from seed, number and part, and is not restored afterwards.
class DropoutScope {
 public:
  DropoutScope(std::int64_t seed, std::int64_t number, std::int64_t part, std::int64_t drawn = 0,
               torch::Device device = torch::kCPU);
  ~DropoutScope();
  DropoutScope(const DropoutScope&) = delete;
  DropoutScope& operator=(const DropoutScope&) = delete;
};

// The position of a thread in its sequence of dropouts.
struct DropoutPlace {
  std::optional<DropoutKey> key;  // inside a DropoutScope, on the CPU
  torch::Tensor generator;        // otherwise the state of the device's random generator
};

// This thread's position, for dropouts on the device.
DropoutPlace dropout_place(torch::Device device);

// While it lives, this thread's dropouts repeat those drawn from `place` on; afterwards they continue where they were.
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

// The next dropout with probability p, 0 ≤ p < 1, quantized to 1/65536.
DropoutRule next_dropout(double p);

// 0 or 1/(1−p) for `streams` streams of n elements each: streams×n, on the CPU.
torch::Tensor dropout_mask(const DropoutRule& rule, std::int64_t streams, std::int64_t n);

// x · mask, mean-preserving; x itself if p is 0.
torch::Tensor dropout(const torch::Tensor& x, double p);

}  // namespace attnscope::kernels
