#include "model/kernels/async_readback.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>
#include <thread>

namespace attnscope::kernels {

// Completes when everything queued on the device's stream so far is done.
struct AsyncReadback::Arrival {
  explicit Arrival(torch::Device device) : event(device.type()) {
    event.record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  }

  c10::Event event;
};

AsyncReadback::AsyncReadback(const torch::Tensor& numbers) : numbers_(numbers) {
  if (numbers.device().is_cpu()) return;
  // Only copies to pinned memory are asynchronous.
  numbers_ = torch::empty(numbers.sizes(), numbers.options().device(torch::kCPU).pinned_memory(true));
  numbers_.copy_(numbers, /*non_blocking=*/true);
  arrival_ = std::make_unique<Arrival>(numbers.device());
}

AsyncReadback::~AsyncReadback() = default;
AsyncReadback::AsyncReadback(AsyncReadback&&) noexcept = default;

std::vector<double> AsyncReadback::wait() const {
  using namespace std::chrono_literals;
  while (arrival_ && !arrival_->event.query()) std::this_thread::sleep_for(20us);
  const torch::Tensor numbers = numbers_.to(torch::kFloat64).contiguous();
  return {numbers.data_ptr<double>(), numbers.data_ptr<double>() + numbers.numel()};
}

}  // namespace attnscope::kernels
