// From running text to the tensors of one update of a language model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/batches.h"

namespace attnscope {

// Windows of `length` pieces that begin at `places` of the stream, each at least one piece before its end: target_in is
// the window, target_out the same one piece later. What lies beyond the end is padding. There is no source, and
// `tokens` are the positions of target_out that are not padding.
Batch make_batch(std::span<const int> stream, std::span<const std::int64_t> places, std::int64_t length,
                 torch::Device device, const SpecialTokens& special = {});

// Where the windows of a batch begin, and how long they are.
struct TextWindows {
  std::vector<std::int64_t> places;
  std::int64_t length = 0;
};

// `batch_size` windows of `length` pieces without padding, each from a place drawn evenly. A pure function of its
// arguments: a resumed run finds its windows by asking again. A stream of `length` pieces or fewer gives shorter
// windows; one of fewer than two pieces throws CorpusError.
TextWindows text_windows(std::span<const int> stream, std::int64_t batch_size, std::int64_t length, std::int64_t seed,
                         std::int64_t batch_number);

}  // namespace attnscope
