// What has happened to the run, for whoever comes late.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plain/history.h"
#include "plain/messages.h"

namespace attnscope {

// Of a run or of the one beside it: as it was opened, and what came to it since.
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

  // As if it were opened now.
  RunOpened opened() const;

 private:
  RunOpened opened_;
  History frames_;
};

// Keeps what a window keeps: the points of the curves, and the frames that a History keeps.
class Recap {
 public:
  // Every event in its order, from the session's first on.
  void hear(const Event& event);

  // Who hears these knows as much of the runs as who has heard all. None before the first run was opened.
  std::vector<Event> events() const;

 private:
  void hear_of_other(const OfOther& other);

  std::optional<RunRecap> run_, other_;
  Status status_, other_status_;
};

}  // namespace attnscope
