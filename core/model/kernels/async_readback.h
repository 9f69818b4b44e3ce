// Reads numbers that a device computes without stalling the device.
#pragma once

#include <memory>
#include <vector>

#include "model/kernels/libtorch.h"

namespace attnscope::kernels {

// Create it right after requesting the computation; work queued on the device between that and `wait` continues
// meanwhile. (Reading a tensor waits for everything queued so far.)
class AsyncReadback {
 public:
  explicit AsyncReadback(const torch::Tensor& numbers);
  ~AsyncReadback();
  AsyncReadback(AsyncReadback&&) noexcept;

  std::vector<double> wait() const;

 private:
  struct Arrival;  // on a device
  torch::Tensor numbers_;
  std::unique_ptr<Arrival> arrival_;
};

}  // namespace attnscope::kernels
