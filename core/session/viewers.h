// Who watches: the window, and viewers with probes of their own. Decides whose forward pass is next.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <ranges>

#include "session/session.h"

namespace attnscope {

struct Viewer {
  std::optional<ViewerId> id = {};    // none: the window
  std::optional<Probe> asked = {};    // the newest probe not yet answered
  std::optional<Probe> present = {};  // the probe being displayed
  bool outdated = false;              // the weights have changed since the last answer
  bool failed = false;                // the last probe failed; repeating it would only repeat the error
  bool gone = false;

  bool waits() const { return asked.has_value(); }
  bool is_outdated() const { return present && outdated && !failed && !gone; }
};

// The timing of successive forward passes.
struct InspectionPace {
  using Clock = std::chrono::steady_clock;

  Clock::time_point last_end{};
  Clock::duration took{};

  bool rested(Clock::duration rest) const { return Clock::now() - last_end >= rest; }
};

class Viewers {
 public:
  Viewer window;

  void ask(ViewerQuestion question);
  // Not during a forward pass for one of them.
  void remove_gone();

  // The next viewer in turn that satisfies the condition; null: none.
  template <typename Condition>
  Viewer* next(Condition condition);

  template <typename Do>
  void each(Do apply) {  // with the window
    apply(window);
    for (auto& [id, viewer] : viewers_) apply(viewer);
  }
  template <typename Condition>
  bool any(Condition condition) const {  // without the window
    return std::ranges::any_of(viewers_ | std::views::values, condition);
  }

  // Of the window: completed forward passes. Of viewers: all of them.
  InspectionPace& pace_of(const Viewer& viewer) { return viewer.id ? viewer_pace : window_pace; }
  InspectionPace window_pace, viewer_pace;

 private:
  std::map<ViewerId, Viewer> viewers_;
  ViewerId served_ = 0;  // the viewer served last
};

template <typename Condition>
Viewer* Viewers::next(Condition condition) {
  const auto is_next = [&](const auto& entry) { return condition(entry.second); };
  const auto after = viewers_.upper_bound(served_);
  auto found = std::find_if(after, viewers_.end(), is_next);
  if (found == viewers_.end()) {
    found = std::find_if(viewers_.begin(), after, is_next);
    if (found == after) return nullptr;
  }
  served_ = found->first;
  return &found->second;
}

}  // namespace attnscope
