#include "inspect/evaluation/length.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "common/clamped.h"
#include "common/mark.h"
#include "config/architecture.h"
#include "training/batches.h"
#include "training/decoding/search.h"
#include "training/text_batches.h"
#include "training/validation.h"

namespace attnscope {
namespace {

constexpr std::int64_t longer_factor = 3;       // generated pairs are up to this many times longer than in training
constexpr std::int64_t most_windows = 24;       // of text
constexpr std::int64_t places_a_point = 16;     // positions averaged per point of a window's curve
constexpr std::int64_t room_beside_words = 16;  // for special tokens and words of several tokens

std::int64_t words_of(const std::string& text) {
  return 1 + std::count(text.begin(), text.end(), ' ');
}

// The same weights in a model with this many positions; null if impossible, as with learned positions.
Model with_room(SequenceModel& model, std::int64_t length) {
  ModelConfig config = model.config();
  config.max_length = length;
  Model roomy = make_model(config, model.vocab_size());
  roomy->to(model.device());
  const torch::NoGradGuard no_grad;
  const auto from = model.named_parameters();
  for (auto& parameter : roomy->named_parameters()) {
    const torch::Tensor& given = from[parameter.key()];
    if (given.sizes() != parameter->sizes()) return nullptr;
    parameter->copy_(given);
  }
  roomy->freeze();
  return roomy;
}

// The model itself, or an extended one.
struct Roomy {
  SequenceModel& given;
  Model own = {};

  // Returns false if that many positions are impossible.
  bool reach(std::int64_t length) {
    if (length <= given.config().max_length) return true;
    if (!own || own->config().max_length < length) own = with_room(given, length);
    return own != nullptr;
  }
  SequenceModel& model() { return own ? *own : given; }
};

using PairsByLength = std::map<std::int64_t, std::vector<Pair>>;

PairsByLength pairs_by_length(const Corpus& corpus, std::int64_t trained, std::int64_t most) {
  PairsByLength pairs;
  for (const Pair& pair : corpus.test) {
    std::vector<Pair>& of_length = pairs[words_of(pair.source)];
    if (static_cast<std::int64_t>(of_length.size()) < most) of_length.push_back(pair);
  }
  for (std::int64_t length = trained + 1; length <= longer_factor * trained; ++length)
    if (std::vector<Pair> made = pairs_of_length(corpus.name, length, most, 1); !made.empty())
      pairs[length] = std::move(made);
  return pairs;
}

LengthPoint point_of(SequenceModel& model, const Tokenizer& tokenizer, const std::vector<Pair>& pairs,
                     std::int64_t length, const YieldCallback& yield) {
  LengthPoint point;
  point.length = length;
  std::vector<EncodedPair> encoded;
  std::vector<std::string> references;
  for (const Pair& pair : pairs)
    if (auto fits = encode_pair(tokenizer, pair, model.config().max_length)) {
      encoded.push_back(std::move(*fits));
      references.push_back(pair.target);
    }
  point.pairs = static_cast<std::int64_t>(encoded.size());
  if (encoded.empty()) return point;
  point.nll = negative_log_likelihood(model, encoded, point.pairs, yield);
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < point.pairs; ++i) all.push_back(i);
  const Batch batch = make_batch(encoded, all, model.device(), model.config().special());
  const auto found = beam_search(model, batch.source, batch.source_padding, {.beam = 1}, yield);
  for (std::size_t i = 0; i < references.size(); ++i)
    point.exact += tokenizer.decode(found[i].front().ids) == references[i];
  return point;
}

void inspect_pairs(LengthResult& inspection, Roomy& roomy, const Tokenizer& tokenizer, const Corpus& corpus,
                   const FractionCallback& progress) {
  for (const Pair& pair : corpus.train) inspection.trained = std::max(inspection.trained, words_of(pair.source));
  const PairsByLength pairs = pairs_by_length(corpus, inspection.trained, inspection.question.pairs_a_length);
  double done = 0;
  for (const auto& [length, of_length] : pairs) {
    const auto yield = [&] { progress(done / static_cast<double>(pairs.size())); };
    yield();
    std::int64_t tokens = 0;
    for (const Pair& pair : of_length)
      for (const std::string& side : {pair.source, pair.target})
        tokens = std::max(tokens, static_cast<std::int64_t>(tokenizer.encode(side).size()));
    if (length > inspection.trained && !roomy.reach(tokens + room_beside_words)) {
      inspection.problem =
          mark("This model\u2019s position embeddings are learned: it has none for longer sentences than these.");
      return;
    }
    const LengthPoint point = point_of(roomy.model(), tokenizer, of_length, length, yield);
    if (point.pairs > 0) inspection.points.push_back(point);
    ++done;
  }
  if (inspection.points.empty())
    inspection.problem = mark("No held-out pair fits into the model.");
  else if (inspection.points.back().length <= inspection.trained)
    inspection.problem =
        mark("Sentences longer than those of the corpus can be generated only for copy, reverse, sort and addition.");
}

// New examples of that many tokens: those that follow from the tokens before them, by position. The line end is not
// predicted, because in training it is always the last token of the context.
void inspect_drawn(LengthResult& inspection, Roomy& roomy, const Tokenizer& tokenizer, const Corpus& corpus,
                   const FractionCallback& progress) {
  constexpr std::int64_t batch_size = 16;
  SequenceModel& model = roomy.model();
  const auto data = encode_corpus(corpus, tokenizer, model.config(), progress);
  torch::Tensor counted, right, nats;  // of every position: L
  for (const Batch& batch : validation_batches(model, *data, batch_size)) {
    progress(0.5);
    torch::Tensor logits = model.logits(model.decode(batch.target_in, {}));  // B×L×V
    logits.select(2, tokenizer.special().end).fill_(-1e9);
    const torch::Tensor all_nats = -logits.log_softmax(-1).gather(2, batch.target_out.unsqueeze(2)).squeeze(2);
    const auto add = [&](torch::Tensor& sum, const torch::Tensor& values) {  // B×L
      const torch::Tensor of_batch = values.mul(batch.determined).sum(0).to(torch::kCPU, torch::kFloat64);
      sum = sum.defined() ? sum + of_batch : of_batch;
    };
    add(counted, torch::ones_like(all_nats));
    add(right, logits.argmax(-1).eq(batch.target_out));
    add(nats, all_nats);
  }
  for (std::int64_t i = 0; i < counted.size(0); ++i) {
    const auto at = [&](const torch::Tensor& values) { return values[i].item<double>(); };
    const auto tokens = static_cast<std::int64_t>(at(counted));
    if (tokens > 0)
      inspection.points.push_back({i + 1, tokens, static_cast<std::int64_t>(at(right)), {at(nats), tokens}});
  }
}

// Evenly spaced windows of the stream, consecutive if it is short.
void inspect_text(LengthResult& inspection, Roomy& roomy, const Tokenizer& tokenizer, const Corpus& corpus,
                  const FractionCallback& progress) {
  inspection.text = true;
  inspection.trained = roomy.given.config().max_length;
  std::int64_t length = 2 * inspection.trained;
  if (!roomy.reach(length)) {
    length = inspection.trained;
    inspection.problem = mark("This model\u2019s position embeddings are learned: it has none beyond its context.");
  }
  const torch::NoGradGuard no_grad;
  if (corpus.drawn) return inspect_drawn(inspection, roomy, tokenizer, corpus, progress);
  const std::vector<int> stream = encode_text(tokenizer, corpus.text.test, [&] { progress(0); }).stream;
  const auto available = static_cast<std::int64_t>(stream.size()) - 1;
  if (available < length) {
    inspection.problem = mark("The held-out text is shorter than one window of twice the context.");
    return;
  }
  const std::int64_t windows = clamped<std::int64_t>(available / length, 1, most_windows);
  torch::Tensor nats = torch::zeros({length}, torch::kFloat64);
  for (std::int64_t window = 0; window < windows; ++window) {
    progress(static_cast<double>(window) / static_cast<double>(windows));
    const std::vector<std::int64_t> places = {window * (available - length) / std::max<std::int64_t>(1, windows - 1)};
    const Batch batch = make_batch(stream, places, length, roomy.given.device());
    const torch::Tensor logits = roomy.model().logits(roomy.model().decode(batch.target_in, {}))[0];  // L×V
    nats -= torch::log_softmax(logits, -1).gather(1, batch.target_out[0].unsqueeze(1)).squeeze(1).cpu().to(nats);
  }
  const std::int64_t step = std::max<std::int64_t>(1, length / places_a_point);
  for (std::int64_t first = 0; first < length; first += step) {
    const torch::Tensor part = nats.slice(0, first, std::min(first + step, length));
    inspection.points.push_back({first + part.size(0), 0, 0, {part.sum().item<double>(), part.size(0) * windows}});
  }
}

}  // namespace

LengthResult measure_lengths(SequenceModel& model, const Tokenizer& tokenizer, const Corpus& corpus,
                             const LengthQuestion& question, const FractionCallback& progress) {
  LengthResult inspection{.question = question, .model = short_name(model.config()), .points = {}};
  Roomy roomy{model};
  if (model.config().is_language_model()) {
    inspect_text(inspection, roomy, tokenizer, corpus, progress);
  } else {
    inspect_pairs(inspection, roomy, tokenizer, corpus, progress);
  }
  return inspection;
}

}  // namespace attnscope
