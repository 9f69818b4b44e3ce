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
  frames_ = History(opened.pinned);
  other_frames_ = History();
  append(without_history(opened));
  append_history(opened, false);
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
  frames_.add(recorded.frame);
  append_frame(recorded.frame, false);
  return true;
}

bool EventLog::take(const SentencePinned& pinned) {
  frames_.pin(pinned.text);
  other_frames_.pin(pinned.text);
  append(pinned);
  return true;
}

bool EventLog::take(const SentenceUnpinned& unpinned) {
  frames_.unpin(unpinned.text);
  other_frames_.unpin(unpinned.text);
  append(unpinned);
  return true;
}

bool EventLog::take(const Diverged& diverged) {
  append(Diverged{diverged.step, diverged.what, std::nullopt, diverged.of_other});
  return true;
}

bool EventLog::take(const OfOther& other) {
  if (const auto* opened = std::get_if<RunOpened>(&other.what)) {
    other_frames_ = History(opened->pinned);
    append(OfOther{without_history(*opened)});
    append_history(*opened, true);
  } else if (const auto* recorded = std::get_if<FrameRecorded>(&other.what)) {
    other_frames_.add(recorded->frame);
    append_frame(recorded->frame, true);
  } else if (const auto* point = std::get_if<MetricPoint>(&other.what)) {
    append(OfOther{*point});
  } else {
    return false;
  }
  return true;
}

bool EventLog::take(const ComparisonEnded& ended) {
  if (ended.other_stays) frames_ = std::move(other_frames_);
  other_frames_ = History();
  append(ended);
  return true;
}

std::string EventLog::packet(std::uint64_t number) const {
  const Entry& entry = entries_[number - first_];
  if (!entry.packet.empty()) return entry.packet;
  const Frame frame = entry.frame.lock();
  if (!frame) return {};
  return wire_bytes(ToClient(
      LoggedEvent{number, entry.of_other ? Event(OfOther{FrameRecorded{frame}}) : Event(FrameRecorded{frame})}));
}

void EventLog::append(Event event) {
  entries_.push_back({.packet = wire_bytes(ToClient(LoggedEvent{end(), std::move(event)}))});
}

void EventLog::append_history(const RunOpened& opened, bool of_other) {
  for (const MetricPoint& point : opened.metrics) append(of_other ? Event(OfOther{point}) : Event(point));
  for (const PinnedSentence& sentence : opened.pinned)
    for (const Frame& frame : sentence.frames) append_frame(frame, of_other);
}

void EventLog::append_frame(const Frame& frame, bool of_other) {
  entries_.push_back({.frame = frame, .of_other = of_other});
}

}  // namespace attnscope
