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
  void add(const Frame& frame) { frames_.add(frame); }
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
  void hear_of_other(const OfOther& other);

  std::optional<RunRecap> run_, other_;
  Status status_, other_status_;
};

}  // namespace attnscope
