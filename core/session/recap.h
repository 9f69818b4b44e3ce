// A summary of the run's events for clients that connect later.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "messages/history.h"
#include "messages/messages.h"

namespace attnscope {

// For one of the compared runs: its opening, and the changes since.
class RunRecap {
 public:
  explicit RunRecap(const RunOpened& opened) : opened_(opened), frames_(opened.pinned) {}

  void add(const MetricPoint& point) { opened_.metrics.push_back(point); }
  void add(const FrameRecorded& recorded) { frames_.add(recorded.frame); }
  void add(const CorpusRead& read) {
    opened_.examples = read.examples;
    opened_.corpus_follows = false;
  }
  void pin(const std::string& text) { frames_.pin(text); }
  void unpin(const std::string& text) { frames_.unpin(text); }

  // Returns the event as if the run were opened now.
  RunOpened opened() const;

 private:
  RunOpened opened_;
  History frames_;
};

// Retains what a window retains: the points of the curves, and the frames of the History.
class Recap {
 public:
  // Records every event in order, from the session's first.
  void hear(const Event& event);

  // Returns events that give a client the same state as the complete sequence. Empty before the first run is opened.
  std::vector<Event> events() const;

 private:
  void hear_of(RunSide side, const RunOpened& opened);
  void hear_of(RunSide side, const Status& status) { statuses_[side] = status; }
  template <typename What>
  void hear_of(RunSide side, const What& what) {  // a change of a run, or an event that needs no recap
    if constexpr (requires(RunRecap & run) { run.add(what); })
      if (runs_[side]) runs_[side]->add(what);
  }
  void end_comparison(RunSide stays);

  PerRun<std::optional<RunRecap>> runs_;
  PerRun<Status> statuses_;
};

}  // namespace attnscope
