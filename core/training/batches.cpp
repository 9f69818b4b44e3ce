#include "training/batches.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "tokenizer/tokenizer.h"

namespace attnscope {
namespace {

// Batches of like length are cut from pools of this many batches: wide enough for little padding, narrow enough for
// batches to differ from one epoch to the next.
constexpr std::int64_t batches_a_pool = 64;

// Fisher–Yates with our own draw: std::shuffle differs between standard libraries.
template <typename T>
void shuffle(std::span<T> items, std::mt19937_64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

void sort_by_length(std::span<const EncodedPair> pairs, std::span<std::int64_t> indices) {
  std::stable_sort(indices.begin(), indices.end(), [&](std::int64_t a, std::int64_t b) {
    const auto lengths = [&](std::int64_t i) { return std::pair(pairs[i].source.size(), pairs[i].target.size()); };
    return lengths(a) < lengths(b);
  });
}

void cut(std::span<const std::int64_t> indices, std::int64_t batch_size,
         std::vector<std::vector<std::int64_t>>& batches) {
  for (std::size_t begin = 0; begin < indices.size(); begin += batch_size) {
    const auto batch = indices.subspan(begin, std::min<std::size_t>(batch_size, indices.size() - begin));
    batches.emplace_back(batch.begin(), batch.end());
  }
}

std::vector<std::int64_t> all_indices(std::span<const EncodedPair> pairs) {
  std::vector<std::int64_t> indices(pairs.size());
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

}  // namespace

Batch make_batch(std::span<const EncodedPair> pairs, std::span<const std::int64_t> indices, torch::Device device) {
  std::size_t source_length = 0;
  std::size_t target_length = 0;
  Batch batch;
  bool padded = false;
  for (const std::int64_t i : indices) {
    padded |= source_length != 0 && source_length != pairs[i].source.size();
    source_length = std::max(source_length, pairs[i].source.size());
    target_length = std::max(target_length, pairs[i].target.size() + 1);
    batch.tokens += static_cast<std::int64_t>(pairs[i].source.size() + pairs[i].target.size() + 1);
  }
  const auto rows = static_cast<std::int64_t>(indices.size());
  const auto table = [&](std::size_t length) {
    return torch::full({rows, static_cast<std::int64_t>(length)}, Tokenizer::pad_id, torch::kInt64);
  };
  batch.source = table(source_length);
  batch.target_in = table(target_length);
  batch.target_out = table(target_length);
  auto* source = batch.source.data_ptr<std::int64_t>();
  auto* target_in = batch.target_in.data_ptr<std::int64_t>();
  auto* target_out = batch.target_out.data_ptr<std::int64_t>();
  for (const std::int64_t i : indices) {
    const EncodedPair& pair = pairs[i];
    std::copy(pair.source.begin(), pair.source.end(), source);
    *target_in = Tokenizer::bos_id;
    std::copy(pair.target.begin(), pair.target.end(), target_in + 1);
    std::copy(pair.target.begin(), pair.target.end(), target_out);
    target_out[pair.target.size()] = Tokenizer::eos_id;
    source += source_length;
    target_in += target_length;
    target_out += target_length;
  }
  if (padded) batch.source_padding = batch.source.eq(Tokenizer::pad_id).to(device);
  batch.source = batch.source.to(device);
  batch.target_in = batch.target_in.to(device);
  batch.target_out = batch.target_out.to(device);
  return batch;
}

std::vector<std::vector<std::int64_t>> epoch_batches(std::span<const EncodedPair> pairs, std::int64_t batch_size,
                                                     std::int64_t seed, std::int64_t epoch) {
  std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(epoch)};
  std::mt19937_64 random(mixed);
  std::vector<std::int64_t> indices = all_indices(pairs);
  shuffle(std::span(indices), random);
  std::vector<std::vector<std::int64_t>> batches;
  const std::size_t pool_size = batch_size * batches_a_pool;
  for (std::size_t begin = 0; begin < indices.size(); begin += pool_size) {
    const auto pool = std::span(indices).subspan(begin, std::min(pool_size, indices.size() - begin));
    sort_by_length(pairs, pool);
    cut(pool, batch_size, batches);
  }
  shuffle(std::span(batches), random);
  return batches;
}

std::vector<std::vector<std::int64_t>> batches_by_length(std::span<const EncodedPair> pairs, std::int64_t batch_size) {
  std::vector<std::int64_t> indices = all_indices(pairs);
  sort_by_length(pairs, indices);
  std::vector<std::vector<std::int64_t>> batches;
  cut(indices, batch_size, batches);
  return batches;
}

}  // namespace attnscope
