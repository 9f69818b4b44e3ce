// What happened to the run since it was opened, for whoever comes later: every event has a number of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "plain/history.h"
#include "plain/messages.h"

namespace attnscope {

// Grows with the run's curves. Frames are those that a History keeps: what it lets go is told no more.
class EventLog {
 public:
  // Takes the events that none may miss, without paths of this machine; false for one of the moment. RunOpened begins
  // the log anew, numbers go on; its points and frames become events of their own, so that none is large.
  bool record(const Event& event);

  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return first_ + entries_.size(); }

  // The LoggedEvent of that number, in first()…end(), as wire_bytes has it; empty: a frame that was let go.
  std::string packet(std::uint64_t number) const;

 private:
  struct Entry {
    std::string packet = {};
    std::weak_ptr<const Snapshot> frame = {};  // instead
    bool of_other = false;                     // it is
  };

  bool take(const RunOpened& opened);
  bool take(const MetricPoint& point);
  bool take(const FrameRecorded& recorded);
  bool take(const CorpusRead& read);
  bool take(const SentencePinned& pinned);
  bool take(const SentenceUnpinned& unpinned);
  bool take(const Diverged& diverged);
  bool take(const OfOther& other);
  bool take(const ComparisonEnded& ended);
  bool take(const auto&) { return false; }

  void append(Event event);
  void append_frame(const Frame& frame, bool of_other);
  void append_history(const RunOpened& opened, bool of_other);

  std::deque<Entry> entries_;
  std::uint64_t first_ = 0;  // number of the first entry
  History frames_;
  History other_frames_;
};

}  // namespace attnscope
