// How often a run that has a folder is saved by itself.
#pragma once

#include <algorithm>
#include <chrono>

namespace attnscope {

class CheckpointPacing {
 public:
  using Clock = std::chrono::steady_clock;

  // A checkpoint, or an attempt at one: a disk that is full is not tried again and again.
  void begun(Clock::time_point now) { begin_ = now; }
  void ended(Clock::time_point now) { cost_ = now - begin_; }

  // True once `interval` has passed since the last began, or the longer time that keeps saving within a fiftieth of all
  // time. With interval 0, never.
  bool due(Clock::time_point now, std::chrono::seconds interval) const {
    return interval.count() > 0 && now - begin_ >= std::max<Clock::duration>(interval, 50 * cost_);
  }

 private:
  Clock::time_point begin_{};
  Clock::duration cost_{};
};

}  // namespace attnscope
