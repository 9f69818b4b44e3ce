// From running text to the tensors of one update of a language model.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plain/callbacks.h"
#include "tokenizer/tokenizer.h"
#include "training/batches.h"

namespace attnscope {

// A text as one stream: each line's pieces, and eos for each line feed. Of an overlong line, those of its passages.
struct EncodedText {
  std::vector<int> stream;
  std::int64_t characters = 0;  // that the stream stands for: no spaces that SentencePiece drops or adds, all of an unk
};

EncodedText encode_text(const Tokenizer& tokenizer, std::string_view text, const Breath& breathe);

// Windows of `length` pieces that begin at `places` of the stream, each at least one piece before its end: target_in is
// the window, target_out the same one piece later. What lies beyond the end is padding. There is no source, and
// `tokens` are the positions of target_out that are not padding.
Batch make_batch(std::span<const int> stream, std::span<const std::int64_t> places, std::int64_t length,
                 torch::Device device);

// `batch_size` windows of `length` pieces without padding, each from a place drawn evenly. A pure function of its
// arguments: a resumed run finds its windows by asking again. A stream of `length` pieces or fewer gives shorter
// windows; one of fewer than two pieces throws CorpusError.
Batch window_batch(std::span<const int> stream, std::int64_t batch_size, std::int64_t length, std::int64_t seed,
                   std::int64_t batch_number, torch::Device device);

}  // namespace attnscope
