// Pinned sentences, and what the model made of them at many steps of its training.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plain/heads.h"
#include "plain/series.h"
#include "plain/snapshot.h"

namespace attnscope {

// One look at a pinned sentence: a whole snapshot, less what belongs to the model and not to the sentence.
using Frame = std::shared_ptr<const Snapshot>;

struct PinnedSentence {
  std::string text;
  std::vector<Frame> frames;  // by step, ascending; each step once
};

// What a frame keeps of a look: the sentence, its maps and its decoding, without temperature and cuts. No tables of
// positions: they are large, and the same for every sentence.
Frame frame_of(const Snapshot& inspection);

// Memory the frame takes, within some percent: what it is made of, without what the allocator adds.
std::size_t bytes_of(const Snapshot& frame);

inline constexpr std::size_t max_pinned = 16;                                  // each is decoded whole at every look
inline constexpr std::size_t max_frames = 300;                                 // of a sentence: a film of ten seconds
inline constexpr std::size_t default_history_budget = std::size_t{256} << 20;  // bytes

// Keeps itself within its budget by thinning: of all frames but the first and last of each sentence, the one goes whose
// neighbours are the closest in steps, the oldest of several; so what is left is spread evenly over the training. A
// sentence that has more than max_frames is thinned likewise. That is a function of what was done to it alone: two
// histories told the same hold the same frames.
class History {
 public:
  explicit History(std::size_t budget = default_history_budget) : budget_(budget) {}
  explicit History(const std::vector<PinnedSentence>& sentences);

  // False if it is pinned already, or max_pinned are.
  bool pin(const std::string& text);
  bool unpin(const std::string& text);  // its frames go with it; false if it is not pinned

  // Takes its place among the frames of the sentence that is its source_text; nothing if that is not pinned. Frames at
  // and after its step give way: the training that they saw has been taken back.
  void add(Frame frame);

  void truncate(std::int64_t step);  // drops the frames after it
  void clear();                      // drops all frames; the sentences stay pinned

  const std::vector<PinnedSentence>& sentences() const { return sentences_; }  // as they were pinned
  const PinnedSentence* find(const std::string& text) const;                   // null if it is not pinned

  // What all frames take. Above the budget only when the first and last frame of each sentence alone are.
  std::size_t bytes() const { return bytes_; }
  std::size_t budget() const { return budget_; }

 private:
  void drop_after(PinnedSentence& sentence, std::int64_t step);
  bool drop_the_least_missed(std::span<PinnedSentence> among);

  std::size_t budget_;
  std::vector<PinnedSentence> sentences_;
  std::size_t bytes_ = 0;
};

// One weight over the steps of `frames`: how much query `row` attends to key `col` in this head. Frames in which there
// is no such head, row or column are passed over. What the decoder wrote may differ from frame to frame; its rows are
// matched by position.
Series weight_curve(std::span<const Frame> frames, const HeadPlace& place, int row, int col);

}  // namespace attnscope
