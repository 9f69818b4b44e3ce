// Measures the memory of a thread's tensors.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "model/kernels/libtorch.h"

namespace attnscope::kernels {

// Counts every tensor that this thread allocates or frees while it lives; of nested instances, only the innermost
// counts.
class HeldMemory {
 public:
  HeldMemory() : heard_(std::make_shared<Heard>()), hearing_(c10::DebugInfoKind::PROFILER_STATE, heard_) {}

  // Bytes held now, and the peak, both relative to the start.
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
