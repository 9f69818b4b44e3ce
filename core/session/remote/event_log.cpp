#include "session/remote/event_log.h"

#include <utility>
#include <variant>

#include "session/remote/packets.h"
#include "session/remote/wire.h"

namespace attnscope {
namespace {

// The part that can be sent at once, without paths, which mean nothing to a client.
RunOpened without_history(const RunOpened& opened) {
  RunOpened told = opened;
  told.folder.clear();
  told.saved_to.clear();
  told.before.reset();
  told.metrics.clear();
  for (PinnedSentence& sentence : told.pinned) sentence.frames.clear();
  return told;
}

}  // namespace

bool EventLog::record(const Event& event) {
  return std::visit([this](const auto& what) { return take(what); }, event);
}

bool EventLog::take(const RunOpened& opened) {
  first_ = end();
  entries_.clear();
  frames_ = {{History(opened.pinned), History()}};
  append(without_history(opened));
  append_history(opened, RunSide::a);
  return true;
}

bool EventLog::take(const CorpusRead& read) {
  append(read);
  return true;
}

bool EventLog::take(const MetricPoint& point) {
  append(point);
  return true;
}

bool EventLog::take(const FrameRecorded& recorded) {
  frames_[RunSide::a].add(recorded.frame);
  append_frame(recorded.frame, RunSide::a);
  return true;
}

bool EventLog::take(const SentencePinned& pinned) {
  for (History& frames : frames_.values) frames.pin(pinned.text);
  append(pinned);
  return true;
}

bool EventLog::take(const SentenceUnpinned& unpinned) {
  for (History& frames : frames_.values) frames.unpin(unpinned.text);
  append(unpinned);
  return true;
}

bool EventLog::take(const Diverged& diverged) {
  append(Diverged{diverged.step, diverged.what, std::nullopt, diverged.side});
  return true;
}

bool EventLog::take(const OfRunB& event) {
  if (const auto* opened = std::get_if<RunOpened>(&event.what)) {
    frames_[RunSide::b] = History(opened->pinned);
    append(OfRunB{without_history(*opened)});
    append_history(*opened, RunSide::b);
  } else if (const auto* recorded = std::get_if<FrameRecorded>(&event.what)) {
    frames_[RunSide::b].add(recorded->frame);
    append_frame(recorded->frame, RunSide::b);
  } else if (const auto* point = std::get_if<MetricPoint>(&event.what)) {
    append(OfRunB{*point});
  } else {
    return false;
  }
  return true;
}

bool EventLog::take(const ComparisonEnded& ended) {
  History b = std::exchange(frames_[RunSide::b], History());
  if (ended.stays == RunSide::b) frames_[RunSide::a] = std::move(b);
  append(ended);
  return true;
}

std::string EventLog::packet(std::uint64_t number) const {
  const Entry& entry = entries_[number - first_];
  if (!entry.packet.empty()) return entry.packet;
  const Frame frame = entry.frame.lock();
  if (!frame) return {};
  return wire_bytes(ToClient(LoggedEvent{number, event_of(entry.side, FrameRecorded{frame})}));
}

void EventLog::append(Event event) {
  entries_.push_back({.packet = wire_bytes(ToClient(LoggedEvent{end(), std::move(event)}))});
}

void EventLog::append_history(const RunOpened& opened, RunSide side) {
  for (const MetricPoint& point : opened.metrics) append(event_of(side, point));
  for (const PinnedSentence& sentence : opened.pinned)
    for (const Frame& frame : sentence.frames) append_frame(frame, side);
}

void EventLog::append_frame(const Frame& frame, RunSide side) {
  entries_.push_back({.frame = frame, .side = side});
}

}  // namespace attnscope
