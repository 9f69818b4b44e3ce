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
  if (const auto* opened = std::get_if<RunOpened>(&event)) {
    run_.emplace(*opened);
    other_.reset();
  } else if (const auto* status = std::get_if<Status>(&event)) {
    status_ = *status;
  }
  if (!run_) return;
  if (const auto* point = std::get_if<MetricPoint>(&event)) {
    run_->add(*point);
  } else if (const auto* recorded = std::get_if<FrameRecorded>(&event)) {
    run_->add(recorded->frame);
  } else if (const auto* read = std::get_if<CorpusRead>(&event)) {
    run_->add(*read);
  } else if (const auto* pinned = std::get_if<SentencePinned>(&event)) {
    run_->pin(pinned->text);
    if (other_) other_->pin(pinned->text);
  } else if (const auto* unpinned = std::get_if<SentenceUnpinned>(&event)) {
    run_->unpin(unpinned->text);
    if (other_) other_->unpin(unpinned->text);
  } else if (const auto* other = std::get_if<OfOther>(&event)) {
    hear_of_other(*other);
  } else if (const auto* ended = std::get_if<ComparisonEnded>(&event)) {
    if (ended->other_stays && other_) {
      run_ = std::move(other_);
      status_ = other_status_;
    }
    other_.reset();
  }
}

void Recap::hear_of_other(const OfOther& other) {
  if (const auto* opened = std::get_if<RunOpened>(&other.what)) {
    other_.emplace(*opened);
  } else if (const auto* status = std::get_if<Status>(&other.what)) {
    other_status_ = *status;
  }
  if (!other_) return;
  if (const auto* point = std::get_if<MetricPoint>(&other.what)) other_->add(*point);
  if (const auto* recorded = std::get_if<FrameRecorded>(&other.what)) other_->add(recorded->frame);
}

std::vector<Event> Recap::events() const {
  if (!run_) return {};
  std::vector<Event> events{run_->opened(), status_};
  if (other_) {
    events.emplace_back(OfOther{other_->opened()});
    events.emplace_back(OfOther{other_status_});
  }
  return events;
}

}  // namespace attnscope
