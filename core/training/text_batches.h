// From running text to the tensors of one step of a language model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "config/config.h"
#include "training/batches.h"

namespace attnscope {

// Windows of `length` tokens that begin at `places` of the stream, each at least one token before its end: target_in is
// the window, target_out the same shifted by one token. Positions beyond the end are padding. There is no source, and
// `tokens` counts the non-padding positions of target_out.
Batch make_batch(std::span<const int> stream, std::span<const std::int64_t> places, std::int64_t length,
                 torch::Device device, const SpecialTokens& special = {});

// How tokens are chosen for a masked language model.
struct Masking {
  double share = 0.15;                        // of the tokens; 80 % of them are masked, 10 % replaced, 10 % kept
  const std::vector<bool>* begins_word = {};  // by token id: whole words are chosen; null: single tokens
  std::int64_t seed = 0, batch_number = -1;   // of the choice, which also depends on the window's place
};

// The same windows for a masked language model (1810.04805 §3.1): the source is the window with some tokens masked;
// target_out has the original tokens there, and padding elsewhere. Special tokens are never chosen.
Batch make_masked_batch(std::span<const int> stream, std::span<const std::int64_t> places, std::int64_t length,
                        torch::Device device, const ModelConfig& model, std::int64_t vocab_size,
                        const Masking& masking);

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
