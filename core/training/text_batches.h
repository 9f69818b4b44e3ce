// From running text to the tensors of one step of a language model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/batches.h"

namespace attnscope {

// Windows of `length` tokens that begin at `places` of the stream, each at least one token before its end: target_in is
// the window, target_out the same shifted by one token. Positions beyond the end are padding. There is no source, and
// `tokens` counts the non-padding positions of target_out.
Batch make_batch(std::span<const int> stream, std::span<const std::int64_t> places, std::int64_t length,
                 torch::Device device, const SpecialTokens& special = {});

// The start positions and the length of a batch's windows.
struct TextWindows {
  std::vector<std::int64_t> places;
  std::int64_t length = 0;
};

// `batch_size` windows of `length` tokens without padding, with uniformly drawn start positions. A pure function of its
// arguments, so a resumed run gets the same windows. A stream of `length` tokens or fewer gives shorter windows; one of
// fewer than two tokens throws CorpusError.
TextWindows text_windows(std::span<const int> stream, std::int64_t batch_size, std::int64_t length, std::int64_t seed,
                         std::int64_t batch_number);

}  // namespace attnscope
