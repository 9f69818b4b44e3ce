#include "messages/history.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace attnscope {
namespace {

std::size_t bytes_of(const std::string& text) {
  return text.size() <= std::string().capacity() ? 0 : text.size();  // a short one is inside the string object
}

std::size_t bytes_of(const std::vector<Token>& tokens) {
  std::size_t bytes = tokens.size() * sizeof(Token);
  for (const Token& token : tokens) bytes += bytes_of(token.text);
  return bytes;
}

std::size_t bytes_of(const AttentionMaps& maps) {
  std::size_t bytes = 0;
  for (const std::vector<Matrix>& layer : maps) {
    bytes += sizeof(layer);
    for (const Matrix& map : layer) bytes += sizeof(map) + map.values.size() * sizeof(float);
  }
  return bytes;
}

std::size_t bytes_of(const std::vector<DecodingStep>& decoding) {
  std::size_t bytes = 0;
  for (const DecodingStep& step : decoding) {
    bytes += sizeof(step) + step.candidates.size() * sizeof(Candidate);
    for (const Candidate& candidate : step.candidates) bytes += bytes_of(candidate.token.text);
  }
  return bytes;
}

// Returns null if there is no such head, row or column.
const float* weight_at(const Snapshot& frame, const HeadPlace& place, int row, int col) {
  const Matrix* map = map_at(frame, place);
  if (!map || row < 0 || row >= map->rows || col < 0 || col >= map->cols) return nullptr;
  return &map->values[static_cast<std::size_t>(row) * map->cols + col];
}

}  // namespace

Frame frame_of(const Snapshot& inspection) {
  static const auto no_positions = std::make_shared<const std::vector<PositionTable>>();
  auto frame = std::make_shared<Snapshot>();
  frame->run = inspection.run;
  frame->step = inspection.step;
  frame->model = inspection.model;
  frame->source_text = inspection.source_text;
  frame->output_text = inspection.output_text;
  frame->source = inspection.source;
  frame->target_in = inspection.target_in;
  frame->target_out = inspection.target_out;
  frame->forced = inspection.forced;
  frame->truncated = inspection.truncated;
  frame->stopped_at_limit = inspection.stopped_at_limit;
  frame->encoder = inspection.encoder;
  frame->decoder = inspection.decoder;
  frame->cross = inspection.cross;
  frame->captured = inspection.captured;
  frame->decoding = inspection.decoding;
  for (DecodingStep& step : frame->decoding) {
    step.reference.reset();
    for (Candidate& candidate : step.candidates) candidate.tempered = candidate.kept = candidate.probability;
  }
  frame->positions = no_positions;
  return frame;
}

std::size_t bytes_of(const Snapshot& frame) {
  return sizeof(frame) + bytes_of(frame.source_text) + bytes_of(frame.output_text) + bytes_of(frame.source) +
         bytes_of(frame.target_in) + bytes_of(frame.target_out) + bytes_of(frame.encoder) + bytes_of(frame.decoder) +
         bytes_of(frame.cross) + bytes_of(frame.decoding);
}

History::History(const std::vector<PinnedSentence>& sentences) : History() {
  for (const PinnedSentence& sentence : sentences) {
    pin(sentence.text);
    for (const Frame& frame : sentence.frames) add(frame);
  }
}

History History::whole(std::vector<PinnedSentence> sentences) {
  History history(std::numeric_limits<std::size_t>::max());
  for (const PinnedSentence& sentence : sentences)
    for (const Frame& frame : sentence.frames) history.bytes_ += attnscope::bytes_of(*frame);
  history.sentences_ = std::move(sentences);
  return history;
}

bool History::pin(const std::string& text) {
  if (sentences_.size() == max_pinned || find(text)) return false;
  sentences_.push_back({text, {}});
  return true;
}

bool History::unpin(const std::string& text) {
  const auto pinned = std::ranges::find(sentences_, text, &PinnedSentence::text);
  if (pinned == sentences_.end()) return false;
  drop_after(*pinned, -1);  // all of them: steps are counted from 0
  sentences_.erase(pinned);
  return true;
}

void History::add(Frame frame) {
  const auto pinned = std::ranges::find(sentences_, frame->source_text, &PinnedSentence::text);
  if (pinned == sentences_.end()) return;
  drop_after(*pinned, frame->step - 1);
  bytes_ += bytes_of(*frame);
  pinned->frames.push_back(std::move(frame));
  if (pinned->frames.size() > max_frames) drop_the_least_missed({&*pinned, 1});
  while (bytes_ > budget_ && drop_the_least_missed(sentences_)) {
  }
}

void History::truncate(std::int64_t step) {
  for (PinnedSentence& sentence : sentences_) drop_after(sentence, step);
}

void History::clear() {
  for (PinnedSentence& sentence : sentences_) sentence.frames.clear();
  bytes_ = 0;
}

const PinnedSentence* History::find(const std::string& text) const {
  const auto pinned = std::ranges::find(sentences_, text, &PinnedSentence::text);
  return pinned == sentences_.end() ? nullptr : &*pinned;
}

void History::drop_after(PinnedSentence& sentence, std::int64_t step) {
  while (!sentence.frames.empty() && sentence.frames.back()->step > step) {
    bytes_ -= bytes_of(*sentence.frames.back());
    sentence.frames.pop_back();
  }
}

bool History::drop_the_least_missed(std::span<PinnedSentence> among) {
  std::pair least = {std::numeric_limits<std::int64_t>::max(), std::int64_t{0}};  // the gap it leaves, its step
  std::vector<Frame>* frames = nullptr;
  std::size_t index = 0;
  for (PinnedSentence& sentence : among) {
    for (std::size_t i = 1; i + 1 < sentence.frames.size(); ++i) {
      const std::int64_t gap = sentence.frames[i + 1]->step - sentence.frames[i - 1]->step;
      const std::pair candidate = {gap, sentence.frames[i]->step};
      if (frames && candidate >= least) continue;
      least = candidate;
      frames = &sentence.frames;
      index = i;
    }
  }
  if (!frames) return false;
  bytes_ -= bytes_of(*(*frames)[index]);
  frames->erase(frames->begin() + static_cast<std::ptrdiff_t>(index));
  return true;
}

Series weight_curve(std::span<const Frame> frames, const HeadPlace& place, int row, int col) {
  Series curve;
  for (const Frame& frame : frames) {
    const float* const weight = weight_at(*frame, place, row, col);
    if (!weight) continue;
    curve.x.push_back(static_cast<double>(frame->step));
    curve.y.push_back(*weight);
  }
  return curve;
}

}  // namespace attnscope
