// How much memory a thread's tensors take.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "kernels/libtorch.h"

namespace attnscope::kernels {

// Hears of every tensor that this thread makes or lets go while it lives; nested ones are heard by the innermost alone.
class HeldMemory {
 public:
  HeldMemory() : heard_(std::make_shared<Heard>()), hearing_(c10::DebugInfoKind::PROFILER_STATE, heard_) {}

  // Bytes: held now, and the most at once, beyond what was held at the beginning.
  std::int64_t held() const { return heard_->held; }
  std::int64_t peak() const { return heard_->peak; }

 private:
  struct Heard : c10::MemoryReportingInfoBase {
    using Total = std::conditional_t<TORCH_VERSION_MAJOR >= 2, std::size_t, std::int64_t>;

    void reportMemoryUsage(void*, std::int64_t bytes, Total, Total, c10::Device) override {
      held += bytes;
      peak = std::max(peak, held);
    }
    bool memoryProfilingEnabled() const override { return true; }

    std::int64_t held = 0, peak = 0;
  };

  std::shared_ptr<Heard> heard_;
  c10::DebugInfoGuard hearing_;
};

}  // namespace attnscope::kernels
