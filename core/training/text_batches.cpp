#include "training/text_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "data/corpus/corpus.h"
#include "data/corpus/random.h"

namespace attnscope {
namespace {

// Groups of positions that are chosen together: words, or single tokens.
std::vector<std::vector<std::int64_t>> units_of(std::span<const std::int64_t> ids, const SpecialTokens& special,
                                                const std::vector<bool>* begins_word) {
  std::vector<std::vector<std::int64_t>> units;
  bool continues = false;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int64_t id = ids[i];
    const bool is_special = id == special.end || id == special.start || id == special.mask || id == special.padding;
    continues = continues && begins_word && !is_special && !(*begins_word)[static_cast<std::size_t>(id)];
    if (is_special) continue;
    if (!continues) units.emplace_back();
    units.back().push_back(static_cast<std::int64_t>(i));
    continues = true;
  }
  return units;
}

// Masks one window in place; returns the chosen positions, at least one if there is any.
std::vector<std::int64_t> mask_window(std::span<std::int64_t> ids, const SpecialTokens& special,
                                      std::int64_t vocab_size, const Masking& masking, Random& random) {
  std::vector<std::vector<std::int64_t>> units = units_of(ids, special, masking.begins_word);
  std::size_t tokens = 0;
  for (const auto& unit : units) tokens += unit.size();
  const auto wanted =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(masking.share * static_cast<double>(tokens))));
  std::vector<std::int64_t> chosen;
  while (!units.empty() && chosen.size() < wanted) {
    const std::size_t drawn = random.below(units.size());
    chosen.insert(chosen.end(), units[drawn].begin(), units[drawn].end());
    units.erase(units.begin() + static_cast<std::ptrdiff_t>(drawn));
  }
  for (const std::int64_t position : chosen) {
    const std::size_t fate = random.below(10);
    std::int64_t& id = ids[static_cast<std::size_t>(position)];
    if (fate < 8) id = special.mask;
    if (fate == 8) id = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(vocab_size)));
  }
  return chosen;
}

}  // namespace

Batch make_masked_batch(std::span<const int> stream, std::span<const std::int64_t> places, std::int64_t length,
                        torch::Device device, const ModelConfig& model, std::int64_t vocab_size,
                        const Masking& masking) {
  const SpecialTokens special = model.special();
  Batch batch = make_batch(stream, places, length, torch::kCPU, special);
  const torch::Tensor original = batch.target_in;
  batch.source = original.clone();
  batch.target_out = torch::full_like(original, special.padding);
  batch.targets = 0;
  for (std::size_t row = 0; row < places.size(); ++row) {
    const auto at = static_cast<std::int64_t>(row);
    const auto there = std::min<std::int64_t>(length, std::ssize(stream) - places[row]);
    Random random(static_cast<std::int64_t>(
        lot(fmt::format("mask {} {} {}", masking.batch_number, row, places[row]), masking.seed)));
    const std::span<std::int64_t> ids(batch.source[at].data_ptr<std::int64_t>(), static_cast<std::size_t>(there));
    for (const std::int64_t position : mask_window(ids, special, vocab_size, masking, random)) {
      batch.target_out[at][position] = original[at][position];
      ++batch.targets;
    }
  }
  const torch::Tensor padding = original.eq(special.padding);
  if (padding.any().item<bool>()) batch.source_padding = padding.to(device);
  for (torch::Tensor* const ids : {&batch.source, &batch.target_in, &batch.target_out}) *ids = ids->to(device);
  return batch;
}

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
