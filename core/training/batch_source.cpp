#include "training/batch_source.h"

#include <algorithm>
#include <span>
#include <utility>

#include "training/text_batches.h"

namespace attnscope {

BatchSource::BatchSource(const Config& config, std::shared_ptr<const Dataset> dataset)
    : config_(config), dataset_(std::move(dataset)) {
  if (config_.model.is_language_model()) return;
  pairs_.emplace(dataset_->train, batch_rule(config_.training), config_.training.seed);
}

std::vector<Batch> BatchSource::parts(std::int64_t number, std::int64_t count, torch::Device device) {
  std::vector<Batch> parts;
  if (pairs_) {
    for (const auto& part : parts_of_like_work(dataset_->train, pairs_->at(number), count)) {
      parts.push_back(make_batch(dataset_->train, part, device, config_.model.special()));
    }
    return parts;
  }
  const TextWindows windows = text_windows(dataset_->train_stream, config_.training.batch_size,
                                           config_.model.max_length, config_.training.seed, number);
  const auto rows = static_cast<std::int64_t>(windows.places.size());
  for (std::int64_t i = 0; i < std::min(count, rows); ++i) {
    const std::int64_t first = rows * i / std::min(count, rows), last = rows * (i + 1) / std::min(count, rows);
    parts.push_back(make_batch(dataset_->train_stream, std::span(windows.places).subspan(first, last - first),
                               windows.length, device, config_.model.special()));
  }
  return parts;
}

}  // namespace attnscope
