#include "training/text_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "data/corpus/corpus.h"
#include "data/corpus/random.h"

namespace attnscope {
Batch make_batch(std::span<const int> stream, std::span<const std::int64_t> places, std::int64_t length,
                 torch::Device device, const SpecialTokens& special) {
  const auto rows = static_cast<std::int64_t>(places.size());
  const torch::Tensor text = torch::full({rows, length + 1}, special.padding, ids_for(device));
  auto* row = text.data_ptr<std::int64_t>();
  Batch batch;
  for (const std::int64_t place : places) {
    const auto rest = stream.subspan(static_cast<std::size_t>(place));
    const std::int64_t read = std::min(length + 1, static_cast<std::int64_t>(rest.size()));
    std::copy_n(rest.begin(), read, row);
    batch.tokens += read - 1;
    row += length + 1;
  }
  batch.targets = batch.tokens;
  const torch::Tensor there = sent(text, device);
  // −1 marks a missing padding token, which is no valid index
  batch.target_in = there.narrow(1, 0, length).clamp_min(0);
  batch.target_out = there.narrow(1, 1, length).contiguous();
  return batch;
}

TextWindows text_windows(std::span<const int> stream, std::int64_t batch_size, std::int64_t length, std::int64_t seed,
                         std::int64_t batch_number) {
  const auto tokens = static_cast<std::int64_t>(stream.size());
  if (tokens < 2) {
    throw CorpusError(fmt::format("the text to train on has {} tokens, at least 2 are needed", tokens));
  }
  const std::int64_t window = std::min(length, tokens - 1);
  Random random(static_cast<std::int64_t>(lot(std::to_string(batch_number), seed)));
  TextWindows windows{std::vector<std::int64_t>(static_cast<std::size_t>(batch_size)), window};
  for (std::int64_t& place : windows.places) {
    place = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(tokens - window)));
  }
  return windows;
}

}  // namespace attnscope
