#include "training/evaluation.h"

#include <algorithm>
#include <map>
#include <numbers>

#include "decoding/search.h"
#include "metrics/bleu.h"
#include "plain/spread.h"
#include "training/text_batches.h"

namespace attnscope {
namespace {

constexpr std::int64_t evaluation_batch_size = 128;
constexpr std::int64_t evaluation_positions = 8192;  // a batch of text: its logits are as many rows of the vocabulary

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (static_cast<unsigned char>(c) & 0x80U);
}

std::int64_t word_count(const std::string& text) {
  return 1 + std::count(text.begin(), text.end(), ' ');
}

// The best translation of each source, at its own index.
std::vector<std::string> translate_all(SequenceModel& model, const Tokenizer& tokenizer,
                                       std::span<const EncodedPair> pairs, std::int64_t beam,
                                       const EvaluationProgress& progress) {
  std::vector<std::string> translations(pairs.size());
  std::size_t done = 0;
  for (const auto& indices : batches_by_length(pairs, std::max<std::int64_t>(1, evaluation_batch_size / beam))) {
    const Batch batch = make_batch(pairs, indices, model.device());
    const auto found = beam_search(model, batch.source, batch.source_padding, {.beam = beam});
    for (std::size_t i = 0; i < indices.size(); ++i) translations[indices[i]] = tokenizer.decode(found[i].front().ids);
    done += indices.size();
    if (progress) progress(static_cast<double>(done) / static_cast<double>(pairs.size()));
  }
  return translations;
}

// Adds what the logits (B×T×V) say of target_out (B×T).
void add(const torch::Tensor& logits, const torch::Tensor& target_out, NegativeLogLikelihood& total) {
  const auto options =
      torch::nn::functional::CrossEntropyFuncOptions().ignore_index(Tokenizer::pad_id).reduction(torch::kSum);
  total.nats +=
      torch::nn::functional::cross_entropy(logits.flatten(0, 1), target_out.flatten(), options).item<double>();
  total.tokens += target_out.ne(Tokenizer::pad_id).sum().item<std::int64_t>();
}

std::int64_t rounded_up(std::int64_t dividend, std::int64_t divisor) {
  return (dividend + divisor - 1) / divisor;
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
  torch::NoGradGuard no_grad;
  NegativeLogLikelihood total;
  for (const auto& indices : batches_by_length(pairs, batch_size)) {
    model.eval();  // each time: breathing may have left it in another mode
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
  torch::NoGradGuard no_grad;
  NegativeLogLikelihood total;
  std::vector<int> read = {Tokenizer::eos_id};
  read.insert(read.end(), stream.begin(), stream.end());
  const std::int64_t length = model.config().max_length;
  const auto places = window_places(static_cast<std::int64_t>(stream.size()), length, max_windows);
  for (std::size_t begin = 0; begin < places.size(); begin += static_cast<std::size_t>(batch_size)) {
    model.eval();  // each time: breathing may have left it in another mode
    const auto rest = std::span(places).subspan(begin);
    const auto rows = rest.first(std::min(rest.size(), static_cast<std::size_t>(batch_size)));
    const Batch batch = make_batch(read, rows, length, model.device());
    add(model.logits(model.decode(batch.target_in, Memory())), batch.target_out, total);
    if (breathe) breathe();
  }
  return total;
}

std::optional<EncodedPair> encode_pair(const Tokenizer& tokenizer, const Pair& pair, std::int64_t max_length) {
  const auto ids = [&](const std::string& text) {
    std::vector<int> encoded;
    for (const Token& token : tokenizer.encode(text)) encoded.push_back(token.id);
    return encoded;
  };
  EncodedPair encoded{ids(pair.source), ids(pair.target)};
  encoded.source.push_back(Tokenizer::eos_id);
  const std::size_t longest = std::max(encoded.source.size(), encoded.target.size() + 1);
  if (longest > static_cast<std::size_t>(max_length)) return std::nullopt;
  return encoded;
}

Evaluation evaluate_pairs(SequenceModel& model, const Tokenizer& tokenizer, std::span<const Pair> pairs,
                          std::int64_t beam, const EvaluationProgress& progress) {
  Evaluation result;
  std::vector<EncodedPair> encoded;
  std::vector<const Pair*> kept;
  for (const Pair& pair : pairs) {
    if (auto fits = encode_pair(tokenizer, pair, model.config().max_length)) {
      encoded.push_back(std::move(*fits));
      kept.push_back(&pair);
    }
  }
  result.pairs = static_cast<std::int64_t>(kept.size());
  result.too_long = static_cast<std::int64_t>(pairs.size() - kept.size());
  if (kept.empty()) return result;
  result.nll = negative_log_likelihood(model, encoded, evaluation_batch_size, {});
  const std::vector<std::string> translations = translate_all(model, tokenizer, encoded, beam, progress);
  std::vector<std::string> references;
  std::map<std::int64_t, LengthScore> by_length;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const Pair& pair = *kept[i];
    const bool exact = translations[i] == pair.target;
    result.exact += exact;
    LengthScore& length = by_length[(word_count(pair.source) + 1) / 2 * 2];
    ++length.pairs;
    length.exact += exact;
    if (!pair.pronoun.empty()) {
      ++result.pronoun_pairs;
      result.pronoun_right += pronouns(translations[i]) == pronouns(pair.target);
      result.pronoun_exact += exact;
    }
    references.push_back(pair.target);
  }
  for (auto& [words, score] : by_length) {
    score.words = words;
    result.by_length.push_back(score);
  }
  result.bleu = bleu(translations, std::vector<std::vector<std::string>>{references});
  return result;
}

double TextEvaluation::bits_per_character() const {
  return characters == 0 ? 0 : nll.nats / std::numbers::ln2 / static_cast<double>(characters);
}

TextEvaluation evaluate_text(SequenceModel& model, const Tokenizer& tokenizer, std::string_view text,
                             const EvaluationProgress& progress) {
  const auto [stream, characters] = encode_text(tokenizer, text, [&] {
    if (progress) progress(0);
  });
  const std::int64_t length = model.config().max_length;
  const std::int64_t batch_size = std::max<std::int64_t>(1, evaluation_positions / length);
  const std::int64_t batches = rounded_up(rounded_up(static_cast<std::int64_t>(stream.size()), length), batch_size);
  std::int64_t done = 0;
  const auto report = [&] {
    if (progress) progress(static_cast<double>(++done) / static_cast<double>(batches));
  };
  return {.nll = negative_log_likelihood(model, stream, batch_size, all_windows, report), .characters = characters};
}

std::vector<std::string> pronouns(std::string_view french) {
  std::vector<std::string> found;
  for (std::size_t begin = 0; begin < french.size();) {
    std::size_t end = begin;
    while (end < french.size() && is_letter(french[end])) ++end;
    const std::string_view word = french.substr(begin, end - begin);
    if (word == "il" || word == "Il") found.emplace_back("il");
    if (word == "elle" || word == "Elle") found.emplace_back("elle");
    begin = std::max(end, begin + 1);
  }
  return found;
}

}  // namespace attnscope
