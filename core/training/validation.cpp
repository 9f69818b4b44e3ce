#include "training/validation.h"

#include <algorithm>
#include <functional>

#include "kernels/team.h"
#include "plain/spread.h"
#include "tokenizer/tokenizer.h"
#include "training/batches.h"
#include "training/text_batches.h"

namespace attnscope {
namespace {

// Enough for two digits, few enough not to hold up training.
constexpr std::size_t most_validation_pairs = 512;
constexpr std::int64_t most_validation_pieces = 16384;  // of running text

// What one batch says.
NegativeLogLikelihood of_batch(SequenceModel& model, const Batch& batch) {
  const Memory memory = batch.source.defined() ? model.encode(batch.source, batch.source_padding) : Memory();
  const torch::Tensor mean = model.loss(model.decode(batch.target_in, memory), batch.target_out, 0);
  return {mean.item<double>() * static_cast<double>(batch.targets), batch.targets};
}

// The sum over `count` batches, in their order.
NegativeLogLikelihood sum_of(SequenceModel& model, std::size_t count, const std::function<Batch(std::size_t)>& batch,
                             const Breath& breathe) {
  model.check_standing_still();
  std::vector<NegativeLogLikelihood> parts(count);
  NegativeLogLikelihood total;
  kernels::run_by_turns(
      count, !model.device().is_cpu(), [&](std::size_t i, bool) { parts[i] = of_batch(model, batch(i)); },
      [&](std::size_t i) {
        total.nats += parts[i].nats;
        total.tokens += parts[i].tokens;
        if (breathe) breathe();
      });
  return total;
}

// Where windows begin that lie one behind the other, or `max_windows` of them.
std::vector<std::int64_t> window_places(std::int64_t pieces, std::int64_t length, std::int64_t max_windows) {
  std::vector<std::int64_t> places;
  for (std::int64_t place = 0; place < pieces; place += length) places.push_back(place);
  return spread_evenly(places, static_cast<std::size_t>(max_windows));
}

}  // namespace

NegativeLogLikelihood negative_log_likelihood(SequenceModel& model, std::span<const EncodedPair> pairs,
                                              std::int64_t batch_size, const Breath& breathe) {
  const IndexBatches batches = batches_by_length(pairs, batch_size);
  return sum_of(
      model, batches.size(),
      [&](std::size_t i) { return make_batch(pairs, batches[i], model.device(), model.config().special()); }, breathe);
}

NegativeLogLikelihood negative_log_likelihood(SequenceModel& model, std::span<const int> stream,
                                              std::int64_t batch_size, std::int64_t max_windows,
                                              const Breath& breathe) {
  std::vector<int> read = {model.config().special().end};
  read.insert(read.end(), stream.begin(), stream.end());
  const std::int64_t length = model.config().max_length;
  const auto places = window_places(static_cast<std::int64_t>(stream.size()), length, max_windows);
  const auto rows = static_cast<std::size_t>(batch_size);
  const auto batch = [&](std::size_t i) {
    const auto rest = std::span(places).subspan(i * rows);
    return make_batch(read, rest.first(std::min(rest.size(), rows)), length, model.device(), model.config().special());
  };
  return sum_of(model, (places.size() + rows - 1) / rows, batch, breathe);
}

double validate(SequenceModel& model, const Dataset& dataset, std::int64_t batch_size, const Breath& breathe) {
  if (model.config().is_language_model()) {
    const std::int64_t windows = std::max<std::int64_t>(1, most_validation_pieces / model.config().max_length);
    return negative_log_likelihood(model, dataset.validation_stream, batch_size, windows, breathe).per_token();
  }
  const std::vector<EncodedPair> pairs = spread_evenly(dataset.validation, most_validation_pairs);
  return negative_log_likelihood(model, pairs, batch_size, breathe).per_token();
}

}  // namespace attnscope
