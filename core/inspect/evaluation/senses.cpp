#include "inspect/evaluation/senses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "analysis/embedding_measures.h"
#include "analysis/matrix_algebra.h"
#include "common/mark.h"
#include "config/position_schemes.h"
#include "data/corpus/words.h"
#include "inspect/evaluation/linear_probe.h"
#include "inspect/probe/principal_axes.h"
#include "inspect/probe/tensors.h"

namespace attnscope {
namespace {

constexpr int most_groups = 6;     // of output tokens; the rest forms one more group
constexpr int unknown_sense = -1;  // sense unknown
constexpr std::size_t searched_pairs = 4096;

bool is_of_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || byte >= 0x80;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

std::string lowered(std::string text) {
  std::ranges::transform(text, text.begin(), lower);
  return text;
}

// Finds the word as a separate word, ignoring case.
std::optional<std::size_t> find_word(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  for (auto from = text.begin(); from != text.end();) {
    const auto found = std::search(from, text.end(), word.begin(), word.end(), same);
    if (found == text.end()) return std::nullopt;
    const auto after = found + static_cast<std::ptrdiff_t>(word.size());
    const bool begins = found == text.begin() || !is_of_word(found[-1]);
    if (begins && (after == text.end() || !is_of_word(*after))) return found - text.begin();
    from = found + 1;
  }
  return std::nullopt;
}

struct Found {
  Occurrence shown;
  std::vector<int> source;     // tokens, with </s> if from a pair
  std::vector<int> target_in;  // <s> and the translation's tokens
  std::vector<Token> target;   // the generated tokens
  std::int64_t position = 0;   // of the word's last token
};

class Collector {
 public:
  Collector(const Tokenizer& tokenizer, const ModelConfig& model, const CorpusConfig& config, const std::string& word,
            SenseResult& inspection)
      : tokenizer_(tokenizer), model_(model), word_(lowered(word)), inspection_(inspection) {
    if (is_english_french(config) && !model.reads_text()) inspection_.groups = senses_of(word_);
    known_ = !inspection_.groups.empty();
    counts_.resize(std::max<std::size_t>(1, inspection_.groups.size()));
    const std::vector<Token> tokens = tokenizer.encode(word_);
    inspection_.tokens = static_cast<int>(tokens.size());
    if (!tokens.empty()) inspection_.token = tokens.back().text;
  }

  bool known() const { return known_; }

  // True when every sense has its share of occurrences.
  bool is_full() const {
    const int share = most_occurrences / static_cast<int>(counts_.size());
    return std::ranges::all_of(counts_, [&](int count) { return count >= share; });
  }

  void take(const Pair& pair) {
    const int sense = known_ ? sense_in(word_, pair) : 0;
    if (sense == unknown_sense) return;
    int& count = counts_[static_cast<std::size_t>(sense)];
    if (count >= most_occurrences / static_cast<int>(counts_.size())) return;
    const std::optional<std::size_t> at = find_word(pair.source, word_);
    if (!at) return;
    std::optional<Found> read = read_at(pair, *at);
    if (!read) return;
    read->shown.group = known_ ? sense : unknown_sense;
    ++count;
    found.push_back(std::move(*read));
  }

  std::vector<Found> found;

 private:
  // Empty if the sentence does not fit the model, or if the word is not a separate token there.
  std::optional<Found> read_at(const Pair& pair, std::size_t at) const {
    Found read;
    read.shown = {pair.source, pair.target, unknown_sense};
    std::string text = pair.source;
    inspection_.lowered |= text.compare(at, word_.size(), word_) != 0;
    text.replace(at, word_.size(), word_);
    const std::vector<Token> tokens = tokenizer_.encode(text);
    const std::vector<Token> before = tokenizer_.encode(std::string_view(text).substr(0, at + word_.size()));
    if (before.empty() || before.size() > tokens.size() || tokens[before.size() - 1] != before.back()) return {};
    read.position = static_cast<std::int64_t>(before.size()) - 1;
    read.source = ids_of(tokens);
    read.source = tokenizer_.source_ids(std::move(read.source));
    if (model_.is_language_model()) read.source.pop_back();
    if (tokenizer_.opening() >= 0) ++read.position;
    read.target = tokenizer_.encode(pair.target, Side::target);
    read.target_in = ids_of(read.target);
    read.target_in.insert(read.target_in.begin(), model_.special().start);
    const std::size_t room = static_cast<std::size_t>(model_.max_length);
    if (read.source.size() > room || read.target_in.size() > room) return {};
    return read;
  }

  const Tokenizer& tokenizer_;
  const ModelConfig& model_;
  std::string word_;
  SenseResult& inspection_;
  bool known_ = false;
  std::vector<int> counts_;  // number found, by sense
};

// Adds pairs, or lines of text, until there are enough; held-out ones first.
void collect(const Corpus& corpus, Collector& collector, const YieldCallback& yield) {
  std::size_t seen = 0;
  const auto take = [&](const Pair& pair) {
    if (yield && ++seen % searched_pairs == 0) yield();
    collector.take(pair);
    return collector.is_full();
  };
  for (const PairList* part : {&corpus.test, &corpus.validation, &corpus.train})
    for (const Pair& pair : *part)
      if (take(pair)) return;
  for (const std::string* part : {&corpus.text.test, &corpus.text.train})
    for (std::string& line : lines_of(*part))
      if (take({.source = std::move(line), .target = ""})) return;
}

// The results for one sentence: the word's vectors, one per depth, and the output token that attends to it most.
struct WordReading {
  std::vector<torch::Tensor> vectors;  // D
  std::string attended_by;
};

// The target token with the largest weight on the word, averaged over the heads of the last layer.
std::string attended_by(const Inspection& record, const Found& found) {
  if (record.cross.empty() || found.target.empty()) return {};
  const torch::Tensor weights = record.cross.back()[0].mean(0).select(1, found.position);  // T
  const auto row = static_cast<std::size_t>(
      weights.slice(0, 0, static_cast<std::int64_t>(found.target.size())).argmax().item<std::int64_t>());
  return found.target[row].text;
}

WordReading read_word(SequenceModel& model, const Found& found, bool grouped) {
  Inspection record{.states_wanted = true};
  const torch::Tensor source = ids_tensor(found.source, model.device());
  if (model.config().is_language_model()) {
    model.decode(source, {}, nullptr, &record);
  } else {
    const Memory memory = model.encode(source, {}, &record);
    if (!grouped && model.config().has_decoder())
      model.decode(ids_tensor(found.target_in, model.device()), memory, nullptr, &record);
  }
  WordReading reading;
  for (const torch::Tensor& state : record.states) reading.vectors.push_back(state[0][found.position].cpu());
  if (!grouped) reading.attended_by = attended_by(record, found);
  return reading;
}

// Forms groups for the most frequent tokens, and "others" for the rest.
void group_by_output(const std::vector<WordReading>& readings, SenseResult& inspection) {
  std::map<std::string, int> counts;
  for (const WordReading& reading : readings) ++counts[reading.attended_by];
  std::vector<std::pair<std::string, int>> ranked(counts.begin(), counts.end());
  std::ranges::stable_sort(ranked, std::ranges::greater(), &std::pair<std::string, int>::second);
  const bool others = ranked.size() > most_groups + 1;
  if (others) ranked.resize(most_groups);
  for (const auto& [token, count] : ranked) inspection.groups.push_back(token_name(token));
  if (others) inspection.groups.emplace_back(mark("others"));
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const auto found = std::ranges::find(ranked, readings[i].attended_by, &std::pair<std::string, int>::first);
    inspection.occurrences[i].group = static_cast<int>(found - ranked.begin());
  }
}

void add_layers(const std::vector<torch::Tensor>& layers, const ModelConfig& model, SenseResult& inspection,
                const YieldCallback& yield) {
  std::vector<int> groups;
  for (const Occurrence& occurrence : inspection.occurrences) groups.push_back(occurrence.group);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const torch::Tensor& vectors = layers[layer];
    if (!vectors.isfinite().all().item<bool>()) {
      inspection.problem =
          mark("The model's outputs are not finite: open the run again to return to its last checkpoint.");
      inspection.layers.clear();
      return;
    }
    PrincipalAxes axes = principal_axes(vectors, 2);
    SenseLayer& made = inspection.layers.emplace_back();
    made.name = layer_name(layer, model);
    made.points = std::move(axes.points);
    for (std::size_t i = 0; i < std::min<std::size_t>(2, axes.shares.size()); ++i) made.shares[i] = axes.shares[i];
    made.separation = static_cast<float>(mean_silhouette(to_matrix(vectors), groups));
    const ProbeScore score = linear_probe(vectors, groups, static_cast<int>(inspection.groups.size()));
    made.probe = static_cast<float>(score.accuracy);
    made.control = static_cast<float>(score.control);
    // Aligns each layer's axes with the previous layer's, so that sentences stay near their earlier positions.
    if (yield) yield();
    if (layer == 0) continue;
    const Matrix& before = inspection.layers[layer - 1].points;
    made.points = product(made.points, procrustes(before, made.points));
  }
}

}  // namespace

std::vector<std::string> token_senses(const TokenSample& sample, const Tokenizer& tokenizer, const PairList& pairs) {
  std::vector<std::string> senses(static_cast<std::size_t>(sample.tokens()));
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < pairs.size(); ++i) known.emplace(pairs.view(i).source, i);
  for (std::size_t i = 0; i + 1 < sample.sentences.size(); ++i) {
    const torch::Tensor ids = sample.ids.slice(0, sample.sentences[i], sample.sentences[i + 1]).to(torch::kInt32);
    const std::span<const int> sentence(ids.data_ptr<int>(), static_cast<std::size_t>(ids.numel()));
    const auto found = known.find(tokenizer.decode(sentence));
    if (found == known.end()) continue;
    const Pair pair = pairs[found->second];
    for (std::size_t at = 0; at < sentence.size(); ++at) {
      const std::string token = tokenizer.token(sentence[at]), word = lowered(std::string(without_mark(token)));
      const std::vector<std::string> names = senses_of(word);
      if (const int sense = names.empty() ? unknown_sense : sense_in(word, pair); sense != unknown_sense)
        senses[static_cast<std::size_t>(sample.sentences[i]) + at] =
            fmt::format("{}: {}", word, names[static_cast<std::size_t>(sense)]);
    }
  }
  return senses;
}

std::string layer_name(std::size_t layer, const ModelConfig& model) {
  const bool placed = !model.is_recurrent() && position_scheme(model.positions).form == PositionForm::added;
  if (layer == 0) return placed ? mark("embedding + position") : mark("embedding");
  return model.is_recurrent() ? mark("top layer") : fmt::format(mark("layer {}"), layer);
}

WordVectors word_vectors(SequenceModel& model, const Tokenizer& tokenizer, const Corpus* corpus,
                         const CorpusConfig& config, const std::string& word, const YieldCallback& yield) {
  model.check_standing_still();
  WordVectors made;
  SenseResult& inspection = made.about;
  inspection.word = word;
  if (is_english_french(config) && !model.config().reads_text())
    for (const std::string_view known : ambiguous_words()) inspection.suggestions.emplace_back(known);
  if (!corpus) {
    inspection.problem = mark("The run's corpus could not be read, so there are no sentences to search.");
    return made;
  }
  Collector collector(tokenizer, model.config(), config, word, inspection);
  if (!word.empty()) collect(*corpus, collector, yield);
  if (collector.found.size() < 2) {
    inspection.problem =
        fmt::format(mark("The corpus has {} with \"{}\" as a source word that fits into the model: type another word."),
                    collector.found.empty() ? mark("no sentence") : mark("only one sentence"), word);
    return made;
  }
  std::vector<WordReading> readings;
  for (const Found& found : collector.found) {
    if (yield) yield();
    inspection.occurrences.push_back(found.shown);
    readings.push_back(read_word(model, found, collector.known()));
  }
  if (collector.known()) {
    inspection.grouped_by = mark("sense, known from the translation");
  } else if (std::ranges::all_of(readings, [](const WordReading& reading) { return reading.attended_by.empty(); })) {
    inspection.grouped_by = mark("nothing: this model has no cross-attention to separate senses by");
    inspection.groups = {mark("all")};
    for (Occurrence& occurrence : inspection.occurrences) occurrence.group = 0;
  } else {
    inspection.grouped_by = mark("the output token that attends to it most");
    group_by_output(readings, inspection);
  }
  for (std::size_t layer = 0; layer < readings.front().vectors.size(); ++layer) {
    std::vector<torch::Tensor> rows;
    for (const WordReading& reading : readings) rows.push_back(reading.vectors[layer]);
    made.layers.push_back(torch::stack(rows));
  }
  return made;
}

SenseResult inspect_senses(SequenceModel& model, const Tokenizer& tokenizer, const Corpus* corpus,
                           const CorpusConfig& config, const std::string& word, const YieldCallback& yield) {
  WordVectors found = word_vectors(model, tokenizer, corpus, config, word, yield);
  if (found.about.problem.empty()) add_layers(found.layers, model.config(), found.about, yield);
  return std::move(found.about);
}

}  // namespace attnscope
