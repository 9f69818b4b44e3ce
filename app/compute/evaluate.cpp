#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "commands/commands.h"
#include "commands/progress.h"
#include "commands/say.h"
#include "common/spread.h"
#include "compute/opening.h"
#include "compute/unknown_tokens.h"
#include "engine/torch_engine.h"
#include "files/storage/run_folder.h"
#include "inspect/evaluation/evaluation.h"

namespace attnscope {
namespace {

constexpr std::size_t shown_heads = 3;

// Removes duplicate parts: a text's last two may be identical.
template <typename Part>
std::vector<const Part*> chosen_parts(const std::string& split, const Part& train, const Part& validation,
                                      const Part& test) {
  if (split == "test") return {&test};
  if (split == "validation") return {&validation};
  std::vector<const Part*> parts = {&train};
  if (validation != train) parts.push_back(&validation);
  if (test != validation) parts.push_back(&test);
  return parts;
}

std::vector<Pair> chosen_pairs(const Corpus& corpus, const std::string& split, std::int64_t limit) {
  std::vector<Pair> pairs;
  for (const auto* part : chosen_parts(split, corpus.train, corpus.validation, corpus.test))
    pairs.insert(pairs.end(), part->begin(), part->end());
  return limit == 0 ? pairs : spread_evenly(pairs, static_cast<std::size_t>(limit));
}

std::string chosen_text(const Text& text, const std::string& split) {
  std::string chosen;
  for (const std::string* part : chosen_parts(split, text.train, text.validation, text.test)) chosen += *part;
  return chosen;
}

void check_loss(double nll) {
  if (std::isfinite(nll)) return;
  throw std::runtime_error(fmt::format(
      "the loss is {}: on this corpus some activations overflow. attnscope tensors --text LINE shows in which tensor",
      nll));
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

nlohmann::json to_json(const Evaluation& e, const Confusion& confusion, std::int64_t unknown) {
  nlohmann::json json = {{"texts", e.pairs},
                         {"unknown_tokens", unknown},
                         {"too_long", e.too_long},
                         {"unknown_label", e.unknown_label},
                         {"nll", e.nll.per_token()},
                         {"accuracy", confusion.accuracy()},
                         {"balanced_accuracy", confusion.balanced_accuracy()},
                         {"largest_class", confusion.largest_share()},
                         {"labels", confusion.labels},
                         {"confusion", nlohmann::json::array()}};
  for (std::size_t truth = 0; truth < confusion.labels.size(); ++truth) {
    nlohmann::json row = nlohmann::json::array();
    for (std::size_t named = 0; named < confusion.labels.size(); ++named) row.push_back(confusion.at(truth, named));
    json["confusion"].push_back(std::move(row));
  }
  return json;
}

void print(const Evaluation& e, const Confusion& confusion) {
  fmt::print("texts                {}\n", e.pairs);
  if (e.too_long > 0) fmt::print("too long, skipped    {}\n", e.too_long);
  if (e.unknown_label > 0) fmt::print("unknown label, skipped {}\n", e.unknown_label);
  fmt::print("NLL                  {:.4f} nats/label\n", e.nll.per_token());
  fmt::print("accuracy             {:.2f} %\n", 100 * confusion.accuracy());
  fmt::print("balanced accuracy    {:.2f} %\n", 100 * confusion.balanced_accuracy());
  fmt::print("largest class        {:.2f} %\n", 100 * confusion.largest_share());
  for (std::size_t i = 0; i < confusion.labels.size(); ++i)
    fmt::print("  {:18} recall {:6.2f} %, precision {:6.2f} %, {} texts\n", confusion.labels[i],
               100 * confusion.recall(i), 100 * confusion.precision(i), confusion.of_class(i));
}

nlohmann::json to_json(const Evaluation& e, const std::vector<AntecedentScore>& antecedents, std::int64_t unknown) {
  nlohmann::json json = {{"unknown_tokens", unknown},
                         {"pairs", e.pairs},
                         {"too_long", e.too_long},
                         {"nll", e.nll.per_token()},
                         {"perplexity", std::exp(e.nll.per_token())},
                         {"bleu", e.bleu},
                         {"exact_match", share(e.exact, e.pairs)}};
  for (const LengthScore& score : e.by_length) {
    json["by_length"].push_back(
        {{"words", score.words}, {"pairs", score.pairs}, {"exact_match", share(score.exact, score.pairs)}});
  }
  if (e.pronoun_pairs > 0) {
    json["pronoun_pairs"] = e.pronoun_pairs;
    json["pronoun_gender"] = share(e.pronoun_right, e.pronoun_pairs);
    json["pronoun_exact_match"] = share(e.pronoun_exact, e.pronoun_pairs);
    json["antecedent_heads"] = nlohmann::json::array();
    for (const AntecedentScore& score : antecedents) {
      json["antecedent_heads"].push_back({{"view", describe(score.view)},
                                          {"layer", score.layer + 1},
                                          {"head", score.head + 1},
                                          {"pairs", score.pairs},
                                          {"share", score.share()}});
    }
  }
  return json;
}

void print(const Evaluation& e, const std::vector<AntecedentScore>& antecedents) {
  fmt::print("pairs                {}\n", e.pairs);
  if (e.too_long > 0) fmt::print("too long, skipped    {}\n", e.too_long);
  fmt::print("NLL                  {:.4f} nats/token\n", e.nll.per_token());
  fmt::print("perplexity           {:.3f}\n", std::exp(e.nll.per_token()));
  fmt::print("BLEU                 {:.2f}\n", e.bleu);
  fmt::print("exact match          {:.2f} %\n", 100 * share(e.exact, e.pairs));
  for (const LengthScore& score : e.by_length) {
    fmt::print("  {:2}–{:2} words        {:.2f} % of {}\n", score.words - 1, score.words,
               100 * share(score.exact, score.pairs), score.pairs);
  }
  if (e.pronoun_pairs == 0) return;
  fmt::print("pronoun pairs        {}\n", e.pronoun_pairs);
  fmt::print("  il/elle right      {:.2f} %\n", 100 * share(e.pronoun_right, e.pronoun_pairs));
  fmt::print("  exact match        {:.2f} %\n", 100 * share(e.pronoun_exact, e.pronoun_pairs));
  if (antecedents.empty()) return;  // a model without attention
  fmt::print("  largest attention weight on the antecedent (this is not an effect; for effects, see explain)\n");
  for (std::size_t i = 0; i < std::min<std::size_t>(shown_heads, antecedents.size()); ++i) {
    const AntecedentScore& score = antecedents[i];
    fmt::print("    {:.2f} %  {}, layer {} head {}\n", 100 * score.share(), describe(score.view), score.layer + 1,
               score.head + 1);
  }
}

void print_pairs(TorchEngine& engine, const std::vector<Pair>& pairs, const EvaluateOptions& options,
                 ProgressLine& line) {
  const Evaluation result = evaluate_pairs(engine.model(), engine.tokenizer(), pairs, options.beam,
                                           [&](double fraction) { line.show("Translating", fraction); });
  check_loss(result.nll.per_token());
  UnknownTokens unknown(engine.tokenizer());
  const bool labelled = engine.config().model.is_classifier();
  for (const Pair& pair : pairs) {
    unknown.add(pair.source, Side::source);
    if (!labelled) unknown.add(pair.target, Side::target);
  }
  unknown.warn();
  const auto antecedents = score_antecedents(engine.model(), engine.tokenizer(), pairs, [&](double fraction) {
    line.show("Finding heads that attend to antecedents", fraction);
  });
  line.clear();
  if (!result.confusion.labels.empty()) {
    if (options.json) return fmt::print("{}\n", to_json(result, result.confusion, unknown.count()).dump());
    return print(result, result.confusion);
  }
  if (options.json) {
    fmt::print("{}\n", to_json(result, antecedents, unknown.count()).dump());
  } else {
    print(result, antecedents);
  }
}

void print_text(TorchEngine& engine, const std::string& text, const EvaluateOptions& options, ProgressLine& line) {
  const TextEvaluation e = evaluate_text(engine.model(), engine.tokenizer(), text,
                                         [&](double fraction) { line.show("Evaluating the text", fraction); });
  line.clear();
  check_loss(e.nll.per_token());
  UnknownTokens unknown(engine.tokenizer());
  for (const std::string& read : lines_of(text)) unknown.add(read, Side::source);
  unknown.warn();
  if (options.json) {
    nlohmann::json json = {{"characters", e.characters},
                           {"unknown_tokens", unknown.count()},
                           {"tokens", e.nll.tokens},
                           {"nll", e.nll.per_token()},
                           {"perplexity", std::exp(e.nll.per_token())},
                           {"bits_per_character", e.bits_per_character()}};
    if (engine.config().model.is_masked_lm()) {
      json.erase("bits_per_character");  // not every character is predicted
      json["accuracy"] = e.nll.accuracy();
    }
    fmt::print("{}\n", json.dump());
    return;
  }
  fmt::print("characters           {}\n", e.characters);
  fmt::print("tokens               {}\n", e.nll.tokens);
  fmt::print("NLL                  {:.4f} nats/token\n", e.nll.per_token());
  fmt::print("perplexity           {:.3f}\n", std::exp(e.nll.per_token()));
  if (engine.config().model.is_masked_lm())
    return fmt::print("accuracy             {:.2f} % of the masked tokens\n", 100 * e.nll.accuracy());
  fmt::print("bits per character   {:.4f}\n", e.bits_per_character());
}

Corpus load_named_corpus(const TorchEngine& engine, const EvaluateOptions& options) {
  CorpusConfig config = engine.config().corpus;
  config.source = options.corpus;
  config.target = options.target;
  return load_corpus(config, {}, engine.config().model.reads_text());
}

// Compares contents or, if they have changed since, the path.
bool was_trained_on(const Corpus& corpus, const TorchEngine& engine, const EvaluateOptions& options) {
  const std::string& own = engine.config().corpus.source;
  if (own.empty()) return false;  // a model without a corpus
  std::error_code ignored;
  return corpus.hash == load_corpus_record(RunFolder{options.run}.corpus()).hash || options.corpus == own ||
         std::filesystem::equivalent(options.corpus, own, ignored);
}

// The requested part; by default the test part of a corpus used in training, and all of any other.
std::string split_of(const Corpus& corpus, const TorchEngine& engine, const EvaluateOptions& options) {
  const bool own = options.corpus.empty() || was_trained_on(corpus, engine, options);
  const std::string split = !options.split.empty() ? options.split : own ? "test" : "all";
  if (!options.corpus.empty()) {
    tell("{} is {}the corpus of this run: evaluating {} of it", corpus.name, own ? "" : "not ",
         split == "all" ? "all" : "the " + split + " part");
  }
  return split;
}

}  // namespace

int evaluate(const EvaluateOptions& options) {
  ProgressLine line;
  TorchEngine engine;
  open_run(engine, options.run, line, options.step);
  if (options.average > 1) engine.average(options.average);
  std::optional<Corpus> named;
  if (!options.corpus.empty()) named = load_named_corpus(engine, options);
  const Corpus* corpus = named ? &*named : engine.corpus();
  if (!corpus) require_corpus(engine);
  const std::string split = split_of(*corpus, engine, options);
  if (chosen_pairs(*corpus, split, 1).empty() && chosen_text(corpus->text, split).empty())
    throw CorpusError(fmt::format("{}: too small to hold out a {} part. --split all evaluates what was trained on",
                                  corpus->name, split));
  if (engine.config().model.reads_text()) {
    if (options.beam > 1 || options.limit > 0)
      say("a language model is evaluated on running text, not on pairs: --beam and --limit have no effect");
    print_text(engine, chosen_text(corpus->text, split), options, line);
  } else {
    print_pairs(engine, chosen_pairs(*corpus, split, options.limit), options, line);
  }
  return 0;
}

}  // namespace attnscope
