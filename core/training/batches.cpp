#include "training/batches.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "data/tokenizer/tokenizer.h"

namespace attnscope {
namespace {

// Batches of similar length are taken from pools of this many batches: large enough for little padding, small enough
// for batches to vary between epochs.
constexpr std::int64_t batches_a_pool = 64;

// Fisher–Yates with our own random draw: std::shuffle differs between standard libraries.
template <typename T>
void shuffle(std::span<T> items, std::mt19937_64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

void sort_by_length(const EncodedPairs& pairs, std::span<std::int64_t> indices) {
  std::stable_sort(indices.begin(), indices.end(), [&](std::int64_t a, std::int64_t b) {
    const auto lengths = [&](std::int64_t i) { return std::pair(pairs[i].source.size(), pairs[i].target.size()); };
    return lengths(a) < lengths(b);
  });
}

// Sorts by source lengths that are randomly increased by up to a quarter: neighbors have similar lengths, but vary
// between epochs. Drawn as integers, as is the split, so that every standard library gives the same order.
void sort_by_drawn_out_source(const EncodedPairs& pairs, std::mt19937_64& random,
                              std::span<std::int64_t> indices) {
  constexpr std::uint64_t whole = 1024;  // parts of a length
  std::vector<std::pair<std::uint64_t, std::int64_t>> drawn;
  drawn.reserve(indices.size());
  for (const std::int64_t i : indices)
    drawn.emplace_back(pairs[i].source.size() * (whole + random() % (whole / 4 + 1)), i);
  std::ranges::sort(drawn);
  std::ranges::transform(drawn, indices.begin(), &std::pair<std::uint64_t, std::int64_t>::second);
}

std::int64_t longer_side(const PairTokens& pair) {
  return static_cast<std::int64_t>(std::max(pair.source.size(), pair.target.size() + 1));
}

void cut(std::span<const std::int64_t> indices, std::int64_t batch_size, IndexBatches& batches) {
  for (std::size_t begin = 0; begin < indices.size(); begin += batch_size) {
    const auto batch = indices.subspan(begin, std::min<std::size_t>(batch_size, indices.size() - begin));
    batches.emplace_back(batch.begin(), batch.end());
  }
}

void split_by_tokens(const EncodedPairs& pairs, std::span<const std::int64_t> indices, std::int64_t tokens,
                   IndexBatches& batches) {
  std::vector<std::int64_t> batch;
  std::int64_t longest = 0;
  for (const std::int64_t i : indices) {
    longest = std::max(longest, longer_side(pairs[i]));
    if (!batch.empty() && static_cast<std::int64_t>(batch.size() + 1) * longest > tokens) {
      batches.push_back(std::exchange(batch, {}));
      longest = longer_side(pairs[i]);
    }
    batch.push_back(i);
  }
  if (!batch.empty()) batches.push_back(std::move(batch));
}

// Pairs in an average batch; at least one.
std::int64_t typical_pairs(const EncodedPairs& pairs, BatchRule rule) {
  if (rule.tokens == 0) return rule.pairs;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) total += longer_side(pairs[i]);
  return std::max<std::int64_t>(1, rule.tokens * static_cast<std::int64_t>(pairs.size()) / total);
}

std::vector<std::int64_t> all_indices(const EncodedPairs& pairs) {
  std::vector<std::int64_t> indices(pairs.size());
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

}  // namespace

torch::TensorOptions ids_for(torch::Device device) {
  return torch::dtype(torch::kInt64).pinned_memory(!device.is_cpu());
}

torch::Tensor sent(const torch::Tensor& ids, torch::Device device) {
  return ids.to(torch::TensorOptions(device), /*non_blocking=*/true);
}

Batch make_batch(const EncodedPairs& pairs, std::span<const std::int64_t> indices, torch::Device device,
                 const SpecialTokens& special) {
  const std::size_t end = special.ends_targets ? 1 : 0;
  std::size_t source_length = 0;
  std::size_t target_length = 1;
  Batch batch;
  bool padded = false;
  for (const std::int64_t i : indices) {
    padded |= source_length != 0 && source_length != pairs[i].source.size();
    source_length = std::max(source_length, pairs[i].source.size());
    target_length = std::max(target_length, pairs[i].target.size() + end);
    batch.targets += static_cast<std::int64_t>(pairs[i].target.size() + end);
    batch.tokens += static_cast<std::int64_t>(pairs[i].source.size() + pairs[i].target.size() + end);
  }
  const auto rows = static_cast<std::int64_t>(indices.size());
  const auto table = [&](std::size_t length) {
    return torch::full({rows, static_cast<std::int64_t>(length)}, special.padding, ids_for(device));
  };
  batch.source = table(source_length);
  batch.target_in = table(target_length);
  batch.target_out = table(target_length);
  auto* source = batch.source.data_ptr<std::int64_t>();
  auto* target_in = batch.target_in.data_ptr<std::int64_t>();
  auto* target_out = batch.target_out.data_ptr<std::int64_t>();
  for (const std::int64_t i : indices) {
    const PairTokens pair = pairs[i];
    std::copy(pair.source.begin(), pair.source.end(), source);
    *target_in = special.start;
    if (!pair.target.empty()) std::copy_n(pair.target.begin(), pair.target.size() + end - 1, target_in + 1);
    std::copy(pair.target.begin(), pair.target.end(), target_out);
    if (special.ends_targets) target_out[pair.target.size()] = special.end;
    source += source_length;
    target_in += target_length;
    target_out += target_length;
  }
  for (torch::Tensor* const ids : {&batch.source, &batch.target_in, &batch.target_out}) *ids = sent(*ids, device);
  if (padded) batch.source_padding = batch.source.eq(special.padding);
  return batch;
}

BatchRule batch_rule(const TrainingConfig& training) {
  const BatchOrder order = training.batch_order == "source" ? BatchOrder::source
                           : training.batch_order == "both" ? BatchOrder::both
                                                            : BatchOrder::chance;
  return {training.batch_size, training.batch_tokens, order};
}

IndexBatches epoch_batches(const EncodedPairs& pairs, BatchRule rule, std::int64_t seed, std::int64_t epoch) {
  std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(epoch)};
  std::mt19937_64 random(mixed);
  std::vector<std::int64_t> indices = all_indices(pairs);
  shuffle(std::span(indices), random);
  IndexBatches batches;
  const auto pool_size = static_cast<std::size_t>(typical_pairs(pairs, rule) * batches_a_pool);
  for (std::size_t begin = 0; begin < indices.size(); begin += pool_size) {
    const auto pool = std::span(indices).subspan(begin, std::min(pool_size, indices.size() - begin));
    if (rule.order == BatchOrder::source) sort_by_drawn_out_source(pairs, random, pool);
    if (rule.order == BatchOrder::both) sort_by_length(pairs, pool);
    if (rule.tokens == 0) {
      cut(pool, rule.pairs, batches);
    } else {
      split_by_tokens(pairs, pool, rule.tokens, batches);
    }
  }
  shuffle(std::span(batches), random);
  return batches;
}

double padding_share(const EncodedPairs& pairs, const IndexBatches& batches) {
  std::size_t tokens = 0, places = 0;
  for (const std::vector<std::int64_t>& batch : batches) {
    std::size_t source = 0, target = 0;
    for (const std::int64_t i : batch) {
      source = std::max(source, pairs[i].source.size());
      target = std::max(target, pairs[i].target.size() + 1);
      tokens += pairs[i].source.size() + pairs[i].target.size() + 1;
    }
    places += batch.size() * (source + target);
  }
  return places == 0 ? 0 : 1 - static_cast<double>(tokens) / static_cast<double>(places);
}

BatchSequence::BatchSequence(EncodedPairs pairs, BatchRule rule, std::int64_t seed)
    : pairs_(std::move(pairs)), rule_(rule), seed_(seed) {
  enter(0, 0);
}

void BatchSequence::enter(std::int64_t epoch, std::int64_t first) {
  epoch_ = epoch;
  first_ = first;
  batches_ = epoch_batches(pairs_, rule_, seed_, epoch);
}

const std::vector<std::int64_t>& BatchSequence::at(std::int64_t number) {
  const auto count = [&] { return static_cast<std::int64_t>(batches_.size()); };
  if (number < first_) enter(0, 0);
  while (number >= first_ + count()) enter(epoch_ + 1, first_ + count());
  return batches_[number - first_];
}

std::vector<std::span<const std::int64_t>> balanced_shards(const EncodedPairs& pairs,
                                                           std::span<const std::int64_t> indices, std::int64_t count) {
  // A target token costs 1.5 times a source token, because its logits cover the whole vocabulary.
  const auto work = [&](std::int64_t i) {
    return static_cast<std::int64_t>(2 * pairs[i].source.size() + 3 * (pairs[i].target.size() + 1));
  };
  std::int64_t rest = 0;
  for (const std::int64_t i : indices) rest += work(i);
  std::vector<std::span<const std::int64_t>> parts;
  for (std::int64_t left = std::min(count, static_cast<std::int64_t>(indices.size())); left > 0; --left) {
    std::int64_t size = 0, done = 0;
    // the later parts need at least one each
    const auto spare = static_cast<std::int64_t>(indices.size()) - (left - 1);
    while (size < spare && (size == 0 || left == 1 || (done + work(indices[size]) / 2) * left <= rest)) {
      done += work(indices[size++]);
    }
    parts.push_back(indices.first(size));
    indices = indices.subspan(size);
    rest -= done;
  }
  return parts;
}

IndexBatches batches_by_length(const EncodedPairs& pairs, std::int64_t batch_size) {
  std::vector<std::int64_t> indices = all_indices(pairs);
  sort_by_length(pairs, indices);
  IndexBatches batches;
  cut(indices, batch_size, batches);
  return batches;
}

}  // namespace attnscope
