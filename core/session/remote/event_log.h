// The events of the run since it was opened, numbered, for clients that connect later.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "messages/history.h"
#include "messages/messages.h"

namespace attnscope {

// Grows with the run's curves. Frames are those of the History: removed ones are no longer sent.
class EventLog {
 public:
  // Records the events that every client must receive, without local paths; returns false for transient ones. RunOpened
  // restarts the log, but numbers continue. Its points and frames become separate events, so that all are small.
  bool record(const Event& event);

  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return first_ + entries_.size(); }

  // Returns the LoggedEvent of that number, in first()…end(), encoded by wire_bytes; empty: a removed frame.
  std::string packet(std::uint64_t number) const;

 private:
  struct Entry {
    std::string packet = {};
    std::weak_ptr<const Snapshot> frame = {};  // used instead for a frame
    RunSide side = RunSide::a;                 // the run of the frame
  };

  bool take(const RunOpened& opened);
  bool take(const MetricPoint& point);
  bool take(const FrameRecorded& recorded);
  bool take(const CorpusRead& read);
  bool take(const SentencePinned& pinned);
  bool take(const SentenceUnpinned& unpinned);
  bool take(const Diverged& diverged);
  bool take(const OfRunB& event);
  bool take(const ComparisonEnded& ended);
  bool take(const auto&) { return false; }

  void append(Event event);
  void append_frame(const Frame& frame, RunSide side);
  void append_history(const RunOpened& opened, RunSide side);

  std::deque<Entry> entries_;
  std::uint64_t first_ = 0;  // number of the first entry
  PerRun<History> frames_;
};

}  // namespace attnscope
