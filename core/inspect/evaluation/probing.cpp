#include "inspect/evaluation/probing.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "common/mark.h"
#include "data/corpus/words.h"
#include "inspect/evaluation/linear_probe.h"
#include "inspect/evaluation/senses.h"
#include "inspect/probe/tensors.h"

namespace attnscope {
namespace {

constexpr std::size_t most_classes = 16;
constexpr std::int64_t fewest_tokens = 20;  // classes with fewer tokens are left out

// The vectors of tokens in every layer, N×D, their labels, and their ids.
struct Labeled {
  std::vector<torch::Tensor> layers = {};
  std::vector<std::string> labels = {};
  std::vector<int> types = {};
};

bool is_in_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

std::string kind_of(const std::string& token, bool knows_words) {
  if (token.starts_with('<') && token.ends_with('>')) return mark("special token");
  const std::string_view text = without_mark(token);
  const WordKind kind = knows_words && text != token ? properties_of(text).kind : WordKind::unknown;
  if (kind != WordKind::unknown)
    return kind == WordKind::noun ? mark("noun") : kind == WordKind::verb ? mark("verb") : mark("adjective");
  if (std::ranges::any_of(text, is_in_word)) return mark("other word");
  const bool is_number = std::ranges::any_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  return is_number ? mark("number") : mark("punctuation");
}

int change_of_depth(const std::string& token) {
  const auto count = [&](std::string_view brackets) {
    return std::ranges::count_if(token, [&](char c) { return brackets.find(c) != std::string_view::npos; });
  };
  return static_cast<int>(count("([{") - count(")]}"));
}

Labeled labeled_tokens(SequenceModel& model, const Tokenizer& tokenizer, const std::vector<Batch>& texts,
                       const ProbingQuestion& question, bool knows_words, const YieldCallback& yield) {
  const bool first_stack = question.decoder == model.config().is_language_model();
  std::vector<std::int64_t> widths;
  const auto read = [&](const Inspection& pass) {
    const std::vector<torch::Tensor>& vectors = first_stack ? pass.states : pass.hidden;
    widths.clear();
    for (const torch::Tensor& layer : vectors) widths.push_back(layer.size(-1));
    return vectors.empty() ? torch::Tensor() : torch::cat(vectors, -1);
  };
  const TokenSample sample(model, texts, question.decoder, {.hidden_wanted = true, .states_wanted = true}, read, yield);
  Labeled made{.labels = token_labels(sample, tokenizer, question.label, knows_words)};
  const torch::Tensor ids = sample.ids.to(torch::kInt32);
  made.types.assign(ids.data_ptr<int>(), ids.data_ptr<int>() + ids.numel());
  if (!widths.empty()) made.layers = sample.values.split_with_sizes(widths, 1);
  return made;
}

Labeled labeled_senses(WordVectors found) {
  Labeled made{.layers = std::move(found.layers)};
  for (const Occurrence& occurrence : found.about.occurrences)
    made.labels.push_back(found.about.groups[static_cast<std::size_t>(occurrence.group)]);
  return made;
}

// Most frequent first.
std::vector<std::pair<std::string, std::int64_t>> classes_of(const std::vector<std::string>& labels) {
  std::map<std::string, std::int64_t> counts;
  for (const std::string& label : labels)
    if (!label.empty()) ++counts[label];
  std::vector<std::pair<std::string, std::int64_t>> classes(counts.begin(), counts.end());
  std::erase_if(classes, [](const auto& of) { return of.second < fewest_tokens; });
  std::ranges::stable_sort(classes, std::greater<>(), [](const auto& of) { return of.second; });
  classes.resize(std::min(classes.size(), most_classes));
  return classes;
}

}  // namespace

std::vector<std::string> token_labels(const TokenSample& sample, const Tokenizer& tokenizer, TokenLabel label,
                                      bool knows_words) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i + 1 < sample.sentences.size(); ++i) {
    const std::int64_t begin = sample.sentences[i], end = sample.sentences[i + 1];
    const std::vector<std::string> tokens = sample.texts(tokenizer, {begin, end});
    int depth = 0;
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      const std::string& token = tokens[at];
      depth = std::max(0, depth + change_of_depth(token));
      switch (label) {
        case TokenLabel::position:
          labels.push_back(std::to_string(at));
          break;
        case TokenLabel::kind:
          labels.push_back(kind_of(token, knows_words));
          break;
        case TokenLabel::previous:
          labels.push_back(at > 0 ? tokens[at - 1] : "");
          break;
        case TokenLabel::depth:
          labels.push_back(std::to_string(depth));
          break;
        case TokenLabel::sense:
          labels.emplace_back();
      }
    }
  }
  return labels;
}

void add_probes(SequenceModel& model, const Tokenizer& tokenizer, const Corpus& corpus, const CorpusConfig& config,
                const std::vector<Batch>& texts, std::int64_t step, ProbingResult& answer, const YieldCallback& yield) {
  const ProbingQuestion question = answer.question;
  Labeled found;
  if (question.label == TokenLabel::sense) {
    WordVectors word = word_vectors(model, tokenizer, &corpus, config, question.word, yield);
    answer.problem = word.about.problem;
    found = labeled_senses(std::move(word));
  } else {
    found = labeled_tokens(model, tokenizer, texts, question, is_english_french(config), yield);
  }
  const auto classes = classes_of(found.labels);
  if (answer.problem.empty() && (classes.size() < 2 || found.layers.empty()))
    answer.problem = mark(
        "The sample's tokens have fewer than two classes of this label, each on at least 20 tokens: choose another.");
  if (!answer.problem.empty()) return;
  std::vector<std::int64_t> rows;
  std::vector<int> labels, types;
  for (std::size_t row = 0; row < found.labels.size(); ++row) {
    const auto at = std::ranges::find(classes, found.labels[row], [](const auto& of) { return of.first; });
    if (at == classes.end()) continue;
    rows.push_back(static_cast<std::int64_t>(row));
    labels.push_back(static_cast<int>(at - classes.begin()));
    if (!found.types.empty()) types.push_back(found.types[row]);
  }
  answer = {.question = question, .points = std::move(answer.points)};
  for (const auto& [name, count] : classes) {
    answer.classes.push_back(name);
    answer.counts.push_back(count);
  }
  ProbingPoint& point = answer.points.emplace_back(ProbingPoint{step, {}, {}});
  answer.has_embedding = question.label == TokenLabel::sense || question.decoder == model.config().is_language_model();
  const auto count = static_cast<int>(classes.size());
  for (const torch::Tensor& all : found.layers) {
    const torch::Tensor layer = all.index_select(0, torch::tensor(rows));
    const ProbeScore score = linear_probe(layer, labels, count, types);
    point.accuracy.push_back(score.accuracy);
    point.control.push_back(score.control);
    answer.layers.push_back(layer_name(answer.layers.size() + (answer.has_embedding ? 0 : 1), model.config()));
    answer.directions.push_back(to_matrix(probe_directions(layer, labels, count).to(torch::kFloat32)));
    if (yield) yield();
  }
}

}  // namespace attnscope
