// Pinned sentences and their snapshots at many training steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/series.h"
#include "config/heads.h"
#include "messages/pinned_sentence.h"
#include "messages/snapshot.h"

namespace attnscope {

// Returns the part of a snapshot that a frame retains: the sentence, its maps and its decoding, without temperature and
// truncation. Position tables are dropped: they are large and equal for all sentences.
Frame frame_of(const Snapshot& inspection);

// Returns the frame's memory within some percent, without allocator overhead.
std::size_t bytes_of(const Snapshot& frame);

inline constexpr std::size_t max_pinned = 16;   // each is fully decoded at every recording
inline constexpr std::size_t max_frames = 300;  // per sentence: an animation of ten seconds
inline constexpr std::size_t default_history_budget = std::size_t{256} << 20;  // bytes

// Stays within its budget by thinning. It removes the frame with the smallest step gap between its neighbors, never the
// first or last of a sentence; ties: the oldest. The frames therefore stay evenly spread over training. A sentence with
// more than max_frames is thinned likewise. The result is deterministic: two histories with the same operations hold
// the same frames.
class History {
 public:
  explicit History(std::size_t budget = default_history_budget) : budget_(budget) {}
  explicit History(const std::vector<PinnedSentence>& sentences);
  // Holds all of these, whatever their number and size: the frames of a capture, which nothing is added to.
  static History whole(std::vector<PinnedSentence> sentences);

  // Returns false if it is already pinned, or max_pinned are.
  bool pin(const std::string& text);
  bool unpin(const std::string& text);  // removes its frames; false if it is not pinned

  // Adds a frame to the sentence that equals its source_text; no effect if that is not pinned. Frames at or after its
  // step are removed: their training was rolled back.
  void add(Frame frame);

  void truncate(std::int64_t step);  // removes the frames after it
  void clear();                      // removes all frames; the sentences stay pinned

  const std::vector<PinnedSentence>& sentences() const { return sentences_; }  // in the order of pinning
  const PinnedSentence* find(const std::string& text) const;                   // null if it is not pinned

  // The memory of all frames. Above the budget only if nothing but first and last frames is left.
  std::size_t bytes() const { return bytes_; }
  std::size_t budget() const { return budget_; }

 private:
  void drop_after(PinnedSentence& sentence, std::int64_t step);
  bool drop_the_least_missed(std::span<PinnedSentence> among);

  std::size_t budget_;
  std::vector<PinnedSentence> sentences_;
  std::size_t bytes_ = 0;
};

// One weight over the steps of `frames`: the attention of query `row` to key `col` in this head. Skips frames without
// that head, row or column. Decoder outputs may differ between frames; their rows are matched by position.
Series weight_curve(std::span<const Frame> frames, const HeadPlace& place, int row, int col);

}  // namespace attnscope
