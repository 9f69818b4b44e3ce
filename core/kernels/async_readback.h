// Numbers that a device computes, read without making it wait.
#pragma once

#include <memory>
#include <vector>

#include "kernels/libtorch.h"

namespace attnscope::kernels {

// To be made as soon as they are asked for; what is asked of the device between that and `wait` goes on meanwhile.
// (Reading a tensor waits for all that was ever asked.)
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
