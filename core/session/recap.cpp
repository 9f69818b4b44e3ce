#include "session/recap.h"

#include <utility>
#include <variant>

namespace attnscope {

RunOpened RunRecap::opened() const {
  RunOpened now = opened_;
  now.pinned = frames_.sentences();
  now.warnings.clear();  // they belong to its opening
  return now;
}

void Recap::hear(const Event& event) {
  if (const auto* of_b = std::get_if<OfRunB>(&event)) {
    std::visit([this](const auto& what) { hear_of(RunSide::b, what); }, of_b->what);
  } else if (const auto* pinned = std::get_if<SentencePinned>(&event)) {
    for (auto& run : runs_.values)
      if (run) run->pin(pinned->text);
  } else if (const auto* unpinned = std::get_if<SentenceUnpinned>(&event)) {
    for (auto& run : runs_.values)
      if (run) run->unpin(unpinned->text);
  } else if (const auto* ended = std::get_if<ComparisonEnded>(&event)) {
    end_comparison(ended->stays);
  } else {
    std::visit([this](const auto& what) { hear_of(RunSide::a, what); }, event);
  }
}

void Recap::hear_of(RunSide side, const RunOpened& opened) {
  runs_[side].emplace(opened);
  if (side == RunSide::a) runs_[RunSide::b].reset();
}

void Recap::end_comparison(RunSide stays) {
  if (stays == RunSide::b && runs_[RunSide::b]) {
    runs_[RunSide::a] = std::move(runs_[RunSide::b]);
    statuses_[RunSide::a] = statuses_[RunSide::b];
  }
  runs_[RunSide::b].reset();
}

std::vector<Event> Recap::events() const {
  std::vector<Event> events;
  for (const RunSide side : both_sides) {
    if (!runs_[side]) break;
    events.push_back(event_of(side, runs_[side]->opened()));
    events.push_back(event_of(side, statuses_[side]));
  }
  return events;
}

}  // namespace attnscope
