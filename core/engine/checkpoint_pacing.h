// Paces the automatic saving of a run that has a folder.
#pragma once

#include <algorithm>
#include <chrono>

namespace attnscope {

class CheckpointPacing {
 public:
  using Clock = std::chrono::steady_clock;

  // Records the start of a checkpoint, even of one that fails: a full disk is not retried constantly.
  void begun(Clock::time_point now) { begin_ = now; }
  void ended(Clock::time_point now) { cost_ = now - begin_; }

  // True once `interval` has passed since the last start, or the longer time that limits saving to a fiftieth of all
  // time. Never with interval 0.
  bool due(Clock::time_point now, std::chrono::seconds interval) const {
    return interval.count() > 0 && now - begin_ >= std::max<Clock::duration>(interval, 50 * cost_);
  }

 private:
  Clock::time_point begin_{};
  Clock::duration cost_{};
};

}  // namespace attnscope
