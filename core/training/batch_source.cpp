#include "training/batch_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "data/corpus/random.h"
#include "training/text_batches.h"

namespace attnscope {
namespace {

// The i-th of `count` parts of similar length.
std::span<const std::int64_t> part_of(std::span<const std::int64_t> places, std::int64_t i, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(places.size());
  return places.subspan(size * i / count, size * (i + 1) / count - size * i / count);
}

// The windows `first` … `first` + `count` − 1 of a batch of a drawn corpus.
Batch drawn_batch(const Dataset& dataset, const Config& config, std::int64_t number, std::int64_t first,
                  std::int64_t count, torch::Device device) {
  std::vector<int> stream;
  std::vector<std::int64_t> places;
  for (std::int64_t row = first; row < first + count; ++row) {
    Random random(static_cast<std::int64_t>(lot(fmt::format("{} {}", number, row), config.training.seed)));
    const std::vector<int> window = dataset.draw_window(random);
    places.push_back(static_cast<std::int64_t>(stream.size()));
    stream.insert(stream.end(), window.begin(), window.end());
  }
  return make_batch(stream, places, config.model.max_length, device, config.model.special());
}

}  // namespace

BatchSource::BatchSource(const Config& config, std::shared_ptr<const Dataset> dataset, std::int64_t rank,
                         std::int64_t num_ranks)
    : config_(config), dataset_(std::move(dataset)), rank_(rank), num_ranks_(num_ranks) {
  if (config_.model.reads_text()) return;
  pairs_.emplace(dataset_->train, batch_rule(config_.training), config_.training.seed);
}

std::vector<Batch> BatchSource::parts(std::int64_t number, std::int64_t count, torch::Device device) {
  std::vector<Batch> parts;
  if (pairs_) {
    const auto shares = balanced_shards(dataset_->train, pairs_->at(number), num_ranks_);
    if (rank_ >= static_cast<std::int64_t>(shares.size())) return parts;
    for (const auto& part : balanced_shards(dataset_->train, shares[rank_], count)) {
      parts.push_back(make_batch(dataset_->train, part, device, config_.model.special()));
    }
    return parts;
  }
  const TextWindows windows = text_windows(dataset_->train_stream, config_.training.batch_size,
                                           config_.model.max_length, config_.training.seed, number);
  const auto share = part_of(windows.places, rank_, num_ranks_);
  const auto rows_before = [&](std::span<const std::int64_t> part) { return part.data() - windows.places.data(); };
  const std::int64_t num_parts = std::min(count, static_cast<std::int64_t>(share.size()));
  for (std::int64_t i = 0; i < num_parts; ++i) {
    const auto part = part_of(share, i, num_parts);
    if (dataset_->draw_window) {
      parts.push_back(
          drawn_batch(*dataset_, config_, number, rows_before(part), static_cast<std::int64_t>(part.size()), device));
      continue;
    }
    if (!config_.model.is_masked_lm()) {
      parts.push_back(make_batch(dataset_->train_stream, part, windows.length, device, config_.model.special()));
      continue;
    }
    const std::vector<bool>& words = dataset_->begins_word;
    const Masking masking{config_.training.masked / 100, config_.training.whole_words ? &words : nullptr,
                          config_.training.seed, number};
    parts.push_back(make_masked_batch(dataset_->train_stream, part, windows.length, device, config_.model,
                                      std::ssize(words), masking));
  }
  return parts;
}

}  // namespace attnscope
