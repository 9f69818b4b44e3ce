#include "inspect/evaluation/evaluation.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/bleu.h"
#include "inspect/probe/inspect_model.h"
#include "training/batches.h"
#include "training/decoding/search.h"
#include "training/validation.h"

namespace attnscope {
namespace {

constexpr std::size_t pairs_per_yield = 64;
constexpr std::int64_t evaluation_batch_size = 128;
constexpr std::int64_t evaluation_positions = 8192;  // per batch of text: rows of its logits

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (static_cast<unsigned char>(c) & 0x80U);
}

std::int64_t word_count(const std::string& text) {
  return 1 + std::count(text.begin(), text.end(), ' ');
}

// Compares `found` with the expected labels of a tokenizer.
Confusion confusion_of(const std::vector<std::string>& labels, std::span<const std::string> found,
                       std::span<const std::string> wanted) {
  Confusion confusion{labels, std::vector<std::int64_t>(labels.size() * labels.size())};
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < labels.size(); ++i) places[labels[i]] = i;
  for (std::size_t i = 0; i < found.size(); ++i)
    ++confusion.counts[places.at(wanted[i]) * labels.size() + places.at(found[i])];
  return confusion;
}

std::int64_t rounded_up(std::int64_t dividend, std::int64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

}  // namespace

Evaluation evaluate_pairs(SequenceModel& model, const Tokenizer& tokenizer, std::span<const Pair> pairs,
                          std::int64_t beam, const FractionCallback& progress) {
  Evaluation result;
  std::vector<EncodedPair> encoded;
  std::vector<const Pair*> kept;
  const auto nothing_done_yet = [&] {
    if (progress) progress(0);
  };
  for (const Pair& pair : pairs) {
    if (encoded.size() % pairs_per_yield == 0) nothing_done_yet();
    if (has_unknown_label(tokenizer, pair)) {
      ++result.unknown_label;
    } else if (auto fits = encode_pair(tokenizer, pair, model.config().max_length)) {
      encoded.push_back(std::move(*fits));
      kept.push_back(&pair);
    }
  }
  result.pairs = static_cast<std::int64_t>(kept.size());
  result.too_long = static_cast<std::int64_t>(pairs.size() - kept.size()) - result.unknown_label;
  if (kept.empty()) return result;
  result.nll = negative_log_likelihood(model, encoded, evaluation_batch_size, nothing_done_yet);
  std::vector<std::vector<int>> sources;
  for (const EncodedPair& pair : encoded) sources.push_back(pair.source);
  std::vector<std::string> translations;
  for (const auto& found : search_all(model, sources, {.beam = beam}, progress))
    translations.push_back(tokenizer.decode(found.front().ids));
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
  if (model.config().is_classifier()) {
    result.confusion = confusion_of(tokenizer.labels(), translations, references);
    return result;
  }
  result.bleu = bleu(translations, std::vector<std::vector<std::string>>{references});
  return result;
}

TextEvaluation evaluate_text(SequenceModel& model, const Tokenizer& tokenizer, std::string_view text,
                             const FractionCallback& progress) {
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

// ---- which heads find the antecedent of "it"

std::vector<AntecedentScore> score_antecedents(SequenceModel& model, const Tokenizer& tokenizer,
                                               std::span<const Pair> pairs,
                                               const std::function<void(double fraction)>& progress) {
  std::map<std::tuple<AntecedentView, int, int>, AntecedentScore> scores;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].antecedent.empty()) continue;
    Snapshot snapshot;
    inspect_model(model, tokenizer, {.text = pairs[i].source}, [&](Snapshot latest) { snapshot = std::move(latest); },
                  {});
    for (const HeadFinding& finding : find_antecedent(snapshot, pairs[i].antecedent)) {
      AntecedentScore& score = scores[{finding.view, finding.layer, finding.head}];
      score.view = finding.view;
      score.layer = finding.layer;
      score.head = finding.head;
      score.found += finding.found;
      ++score.pairs;
    }
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(pairs.size()));
  }
  std::vector<AntecedentScore> best;
  for (const auto& [head, score] : scores) best.push_back(score);
  std::stable_sort(best.begin(), best.end(), [](const auto& a, const auto& b) { return a.share() > b.share(); });
  return best;
}

}  // namespace attnscope
