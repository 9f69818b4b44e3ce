#include "training/validation.h"

#include <algorithm>
#include <array>
#include <functional>

#include "common/spread.h"
#include "data/tokenizer/tokenizer.h"
#include "model/kernels/thread_pool.h"
#include "training/batches.h"
#include "training/text_batches.h"

namespace attnscope {
namespace {

// Enough for two significant digits, few enough not to slow down training.
constexpr std::size_t most_validation_pairs = 512;
constexpr std::int64_t max_validation_tokens = 16384;  // of running text

// The loss of one batch.
NegativeLogLikelihood of_batch(SequenceModel& model, const Batch& batch) {
  const Memory memory = batch.source.defined() ? model.encode(batch.source, batch.source_padding) : Memory();
  const torch::Tensor features = model.decode(batch.target_in, memory);
  NegativeLogLikelihood sum{0, batch.targets};
  if (batch.targets == 0) return sum;
  sum.nats = model.loss(features, batch.target_out, 0).item<double>() * static_cast<double>(batch.targets);
  if (model.config().is_masked_lm()) {
    const torch::Tensor asked = batch.target_out.ne(model.config().padding_id);
    const torch::Tensor best = model.logits(features.index({asked})).argmax(-1);
    sum.correct = best.eq(batch.target_out.index({asked})).sum().item<std::int64_t>();
  }
  return sum;
}

// The sum over `count` batches, in order.
NegativeLogLikelihood sum_of(SequenceModel& model, std::size_t count, const std::function<Batch(std::size_t)>& batch,
                             const YieldCallback& yield) {
  model.check_standing_still();
  std::vector<NegativeLogLikelihood> parts(count);
  NegativeLogLikelihood total;
  kernels::run_by_turns(
      count, !model.device().is_cpu(), [&](std::size_t i, bool) { parts[i] = of_batch(model, batch(i)); },
      [&](std::size_t i) {
        total.nats += parts[i].nats;
        total.tokens += parts[i].tokens;
        total.correct += parts[i].correct;
        if (yield) yield();
      });
  return total;
}

// The start positions of consecutive windows, or `max_windows` evenly spaced ones.
std::vector<std::int64_t> window_places(std::int64_t tokens, std::int64_t length, std::int64_t max_windows) {
  std::vector<std::int64_t> places;
  for (std::int64_t place = 0; place < tokens; place += length) places.push_back(place);
  return spread_evenly(places, static_cast<std::size_t>(max_windows));
}

// A text stream in consecutive windows, several per batch.
class Windows {
 public:
  Windows(const SequenceModel& model, std::span<const int> stream, std::int64_t batch_size, std::int64_t max_windows,
          const std::vector<bool>& determined = {})
      : model_(model),
        determined_(determined.begin(), determined.end()),
        read_({model.config().special().end}),
        places_(window_places(static_cast<std::int64_t>(stream.size()), model.config().max_length, max_windows)),
        rows_(static_cast<std::size_t>(batch_size)) {
    read_.insert(read_.end(), stream.begin(), stream.end());
  }

  std::size_t batches() const { return (places_.size() + rows_ - 1) / rows_; }

  Batch batch(std::size_t i) const {
    const auto rest = std::span(places_).subspan(i * rows_);
    const ModelConfig& config = model_.config();
    const auto places = rest.first(std::min(rest.size(), rows_));
    if (config.is_masked_lm())
      return make_masked_batch(read_, places, config.max_length, model_.device(), config, model_.vocab_size(), {});
    Batch batch = make_batch(read_, places, config.max_length, model_.device(), config.special());
    if (!determined_.empty()) batch.determined = determined_at(places).to(model_.device());
    return batch;
  }

 private:
  // A drawn corpus fills every window.
  torch::Tensor determined_at(std::span<const std::int64_t> places) const {
    const std::int64_t length = model_.config().max_length;
    const torch::Tensor all = torch::from_blob(const_cast<std::uint8_t*>(determined_.data()),
                                               {static_cast<std::int64_t>(determined_.size())}, torch::kUInt8);
    std::vector<torch::Tensor> rows;
    for (const std::int64_t place : places) rows.push_back(all.slice(0, place, place + length));
    return torch::stack(rows).to(torch::kBool);
  }

  const SequenceModel& model_;
  std::vector<std::uint8_t> determined_;
  std::vector<int> read_;
  std::vector<std::int64_t> places_;
  std::size_t rows_;
};

std::vector<Batch> sampled_batches(const SequenceModel& model, const EncodedPairs& part, std::int64_t batch_size,
                                   std::size_t most = most_validation_pairs) {
  EncodedPairs pairs;
  for (const PairTokens& pair : spread_evenly(part, most)) pairs.push_back(pair);
  std::vector<Batch> batches;
  for (const auto& indices : batches_by_length(pairs, batch_size))
    batches.push_back(make_batch(pairs, indices, model.device(), model.config().special()));
  return batches;
}

double accuracy(SequenceModel& model, const std::vector<Batch>& batches, const YieldCallback& yield) {
  const torch::NoGradGuard no_gradients;
  std::int64_t right = 0, all = 0;
  for (const Batch& batch : batches) {
    const Memory memory = batch.source.defined() ? model.encode(batch.source, batch.source_padding) : Memory();
    const torch::Tensor predicted = model.logits(model.decode(batch.target_in, memory)).argmax(-1);
    const torch::Tensor counted =
        batch.determined.defined() ? batch.determined : batch.target_out.ne(model.config().padding_id);
    right += predicted.eq(batch.target_out).logical_and(counted).sum().item<std::int64_t>();
    all += counted.sum().item<std::int64_t>();
    if (yield) yield();
  }
  return all == 0 ? 0 : static_cast<double>(right) / static_cast<double>(all);
}

std::vector<Batch> text_batches(const SequenceModel& model, std::span<const int> stream, std::int64_t batch_size,
                                const std::vector<bool>& determined,
                                std::int64_t most_tokens = max_validation_tokens) {
  std::vector<Batch> batches;
  const Windows windows(model, stream, batch_size,
                        std::max<std::int64_t>(1, most_tokens / model.config().max_length), determined);
  for (std::size_t i = 0; i < windows.batches(); ++i) batches.push_back(windows.batch(i));
  return batches;
}

}  // namespace

NegativeLogLikelihood negative_log_likelihood(SequenceModel& model, const EncodedPairs& pairs,
                                              std::int64_t batch_size, const YieldCallback& yield) {
  const IndexBatches batches = batches_by_length(pairs, batch_size);
  return sum_of(
      model, batches.size(),
      [&](std::size_t i) { return make_batch(pairs, batches[i], model.device(), model.config().special()); }, yield);
}

NegativeLogLikelihood negative_log_likelihood(SequenceModel& model, std::span<const int> stream,
                                              std::int64_t batch_size, std::int64_t max_windows,
                                              const YieldCallback& yield) {
  const Windows windows(model, stream, batch_size, max_windows);
  return sum_of(
      model, windows.batches(), [&](std::size_t i) { return windows.batch(i); }, yield);
}

std::vector<Batch> training_batches(const SequenceModel& model, const Dataset& dataset, std::int64_t batch_size,
                                    std::int64_t times) {
  if (model.config().reads_text())
    return text_batches(model, dataset.train_stream, batch_size, {}, times * max_validation_tokens);
  return sampled_batches(model, dataset.train, batch_size, static_cast<std::size_t>(times) * most_validation_pairs);
}

std::vector<Batch> validation_batches(const SequenceModel& model, const Dataset& dataset, std::int64_t batch_size) {
  if (model.config().reads_text())
    return text_batches(model, dataset.validation_stream, batch_size, dataset.determined);
  return sampled_batches(model, dataset.validation, batch_size);
}

Accuracies accuracies(SequenceModel& model, const Dataset& dataset, std::int64_t batch_size,
                      const YieldCallback& yield) {
  const bool classifies = model.config().is_classifier();
  if (!classifies && dataset.determined.empty()) return {};
  Accuracies shares;
  if (classifies) shares.training = accuracy(model, sampled_batches(model, dataset.train, batch_size), yield);
  shares.validation = accuracy(model, validation_batches(model, dataset, batch_size), yield);
  return shares;
}

NegativeLogLikelihood validate(SequenceModel& model, const Dataset& dataset, std::int64_t batch_size,
                               const YieldCallback& yield, Ranks* ranks, Part part) {
  const std::vector<Batch> batches = part == Part::train ? training_batches(model, dataset, batch_size)
                                                         : validation_batches(model, dataset, batch_size);
  // Batches are sorted by length: dealing them out one by one gives every rank short and long ones.
  const std::size_t first = ranks != nullptr ? static_cast<std::size_t>(ranks->rank()) : 0;
  const std::size_t every = ranks != nullptr ? static_cast<std::size_t>(ranks->size()) : 1;
  const std::size_t count = first < batches.size() ? (batches.size() - first - 1) / every + 1 : 0;
  NegativeLogLikelihood total = sum_of(
      model, count, [&](std::size_t i) { return batches[first + i * every]; }, yield);
  if (ranks != nullptr) {
    std::array<double, 3> sums{total.nats, static_cast<double>(total.tokens), static_cast<double>(total.correct)};
    ranks->sum(sums);
    total = {sums[0], static_cast<std::int64_t>(sums[1]), static_cast<std::int64_t>(sums[2])};
  }
  return total;
}

}  // namespace attnscope
