#include "training/validation.h"

#include <algorithm>

#include "plain/spread.h"
#include "tokenizer/tokenizer.h"
#include "training/batches.h"
#include "training/text_batches.h"

namespace attnscope {
namespace {

// Enough for two digits, few enough not to hold up training.
constexpr std::size_t most_validation_pairs = 512;
constexpr std::int64_t most_validation_pieces = 16384;  // of running text

// Adds what the logits (B×T×V) say of target_out (B×T).
void add(const torch::Tensor& logits, const torch::Tensor& target_out, NegativeLogLikelihood& total) {
  const auto options =
      torch::nn::functional::CrossEntropyFuncOptions().ignore_index(Tokenizer::pad_id).reduction(torch::kSum);
  total.nats +=
      torch::nn::functional::cross_entropy(logits.flatten(0, 1), target_out.flatten(), options).item<double>();
  total.tokens += target_out.ne(Tokenizer::pad_id).sum().item<std::int64_t>();
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
  model.check_standing_still();
  NegativeLogLikelihood total;
  for (const auto& indices : batches_by_length(pairs, batch_size)) {
    const Batch batch = make_batch(pairs, indices, model.device());
    const Memory memory = model.encode(batch.source, batch.source_padding);
    add(model.logits(model.decode(batch.target_in, memory)), batch.target_out, total);
    if (breathe) breathe();
  }
  return total;
}

NegativeLogLikelihood negative_log_likelihood(SequenceModel& model, std::span<const int> stream,
                                              std::int64_t batch_size, std::int64_t max_windows,
                                              const Breath& breathe) {
  model.check_standing_still();
  NegativeLogLikelihood total;
  std::vector<int> read = {Tokenizer::eos_id};
  read.insert(read.end(), stream.begin(), stream.end());
  const std::int64_t length = model.config().max_length;
  const auto places = window_places(static_cast<std::int64_t>(stream.size()), length, max_windows);
  for (std::size_t begin = 0; begin < places.size(); begin += static_cast<std::size_t>(batch_size)) {
    const auto rest = std::span(places).subspan(begin);
    const auto rows = rest.first(std::min(rest.size(), static_cast<std::size_t>(batch_size)));
    const Batch batch = make_batch(read, rows, length, model.device());
    add(model.logits(model.decode(batch.target_in, Memory())), batch.target_out, total);
    if (breathe) breathe();
  }
  return total;
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
