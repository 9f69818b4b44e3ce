#include "training/batch_source.h"

#include <algorithm>
#include <span>
#include <utility>

#include "training/text_batches.h"

namespace attnscope {
namespace {

// The i-th of `count` parts of similar length.
std::span<const std::int64_t> part_of(std::span<const std::int64_t> places, std::int64_t i, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(places.size());
  return places.subspan(size * i / count, size * (i + 1) / count - size * i / count);
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
  const std::int64_t num_parts = std::min(count, static_cast<std::int64_t>(share.size()));
  for (std::int64_t i = 0; i < num_parts; ++i) {
    const auto part = part_of(share, i, num_parts);
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
