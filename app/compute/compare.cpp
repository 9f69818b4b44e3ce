#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/model_comparison.h"
#include "commands/attention_json.h"
#include "commands/commands.h"
#include "commands/progress.h"
#include "commands/say.h"
#include "common/spread.h"
#include "compute/opening.h"
#include "config/comparison.h"
#include "engine/torch_engine.h"
#include "files/storage/comparison_folder.h"
#include "inspect/evaluation/evaluation.h"
#include "inspect/probe/inspect_model.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;

struct OpenedRun {
  std::string folder;
  std::unique_ptr<TorchEngine> engine;
  RunOpened run;
  Snapshot inspection = {};

  const Config& config() const { return run.config; }
};

OpenedRun opened(const std::string& folder, std::unique_ptr<TorchEngine> engine) {
  OpenedRun side{folder, std::move(engine), {}, {}};
  side.run = side.engine->open_run(folder, {});
  for (const std::string& warning : side.run.warnings) say("{}: {}", folder, warning);
  check_finite(*side.engine, folder);
  return side;
}

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

// ---- losses

Json last_of(const std::vector<MetricPoint>& points, std::size_t which) {
  for (auto point = points.rbegin(); point != points.rend(); ++point)
    if ((*point)[which]) return number(*(*point)[which]);
  return {};
}

// The difference of the losses over the steps that both runs have.
Json losses_json(const OpenedRun& a, const OpenedRun& b) {
  constexpr std::size_t loss = metric("loss");
  std::size_t common = 0;
  double largest = 0, sum = 0;
  auto other = b.run.metrics.begin();
  for (const MetricPoint& point : a.run.metrics) {
    while (other != b.run.metrics.end() && other->step < point.step) ++other;
    if (other == b.run.metrics.end()) break;
    if (other->step != point.step || !point[loss] || !(*other)[loss]) continue;
    const double difference = *point[loss] - *(*other)[loss];
    ++common;
    sum += difference;
    largest = std::max(largest, std::abs(difference));
  }
  return {{"common_steps", common},
          {"mean_a_minus_b", number(common == 0 ? 0 : sum / static_cast<double>(common))},
          {"largest_difference", number(largest)}};
}

// ---- scores

// The corpus for scoring both: the named one, else A's; `why` explains if the two runs' corpora differ.
Json score_json(OpenedRun& side, const Corpus& corpus, std::int64_t limit, ProgressLine& line) {
  const auto progress = [&](double fraction) { line.show("Scoring " + side.folder, fraction); };
  if (side.config().model.reads_text()) {
    if (corpus.text.test.empty()) return {{"why_not", "there is no running text in this corpus"}};
    const TextEvaluation scores =
        evaluate_text(side.engine->model(), side.engine->tokenizer(), corpus.text.test, progress);
    return {{"characters", scores.characters},
            {"nll", number(scores.nll.per_token())},
            {"bits_per_character", number(scores.bits_per_character())}};
  }
  if (corpus.test.empty()) return {{"why_not", "there are no pairs in this corpus"}};
  const std::vector<Pair> pairs = spread_evenly(corpus.test, static_cast<std::size_t>(limit));
  const Evaluation scores = evaluate_pairs(side.engine->model(), side.engine->tokenizer(), pairs, 1, progress);
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole == 0 ? Json() : Json(static_cast<double>(part) / static_cast<double>(whole));
  };
  return {{"pairs", scores.pairs},
          {"nll", number(scores.nll.per_token())},
          {"bleu", number(scores.bleu)},
          {"exact_match", share(scores.exact, scores.pairs)},
          {"pronoun_gender", share(scores.pronoun_right, scores.pronoun_pairs)}};
}

Json scores_json(OpenedRun& a, OpenedRun& b, const CompareOptions& options) {
  ProgressLine line;
  std::optional<Corpus> named;
  if (!options.corpus.empty()) {
    CorpusConfig config = a.config().corpus;
    config.source = options.corpus;
    config.target.clear();
    named = load_corpus(config, {}, a.config().model.reads_text());
  }
  const Corpus* of_a = named ? &*named : a.engine->corpus();
  const Corpus* of_b = named ? &*named : b.engine->corpus();
  const auto score = [&](OpenedRun& side, const Corpus* corpus) {
    if (corpus) return score_json(side, *corpus, options.limit, line);
    const bool had_one = !side.config().corpus.source.empty();
    return Json({{"why_not", had_one ? "its corpus could not be read: pass one with --corpus"
                                     : "it came without a corpus: pass one with --corpus"}});
  };
  const bool same = of_a && of_b && of_a->hash == of_b->hash;
  return {{"same_pairs", same}, {"a", score(a, of_a)}, {"b", score(b, of_b)}};
}

// ---- inspections

Json parted_json(const std::optional<DivergingToken>& token) {
  if (!token) return {};
  return {{"token", token->token.text},
          {"probability", token->probability},
          {"in_other", token->in_other ? Json(*token->in_other) : Json()}};
}

Json outputs_json(const OpenedRun& a, const OpenedRun& b) {
  const ComparedOutputs outputs = compare_outputs(a.inspection, b.inspection);
  if (!outputs.why_not.empty()) return {{"why_not", outputs.why_not}};
  return {{"same", outputs.same()},
          {"a", a.inspection.output_text},
          {"b", b.inspection.output_text},
          {"shared_tokens", outputs.shared},
          {"parting", {{"a", parted_json(outputs.a)}, {"b", parted_json(outputs.b)}}},
          {"log_prob_a", number(outputs.log_prob_a)},
          {"log_prob_b", number(outputs.log_prob_b)}};
}

// Weights on a single key are 1 in both models: a distance of 0 would say that the heads were compared.
std::string why_no_distance(const ComparedMaps& maps) {
  if (!maps.why_not.empty()) return maps.why_not;
  if (maps.queries.empty()) return "Nothing to compare: no query has the same input in both models.";
  return maps.keys.size() > 1 ? "" : "Nothing to compare: queries with the same input have only one key.";
}

Json heads_json(const OpenedRun& a, const OpenedRun& b) {
  Json heads = Json::array();
  for (const AttentionPart part : attention_parts) {
    const AttentionMaps& layers = maps_of(a.inspection, part);
    for (int layer = 0; layer < static_cast<int>(layers.size()); ++layer) {
      for (int head = 0; head < static_cast<int>(layers[static_cast<std::size_t>(layer)].size()); ++head) {
        const HeadPlace place{part, layer, head};
        const ComparedMaps maps = compare_maps(a.inspection, b.inspection, place);
        Json row = {{"head", head_name(place, a.inspection.model)}};
        if (const std::string why = why_no_distance(maps); why.empty()) {
          row["apart"] = maps.apart;
        } else {
          row["why_not"] = why;
        }
        heads.push_back(std::move(row));
      }
    }
  }
  return heads;
}

Json positions_json(const OpenedRun& a, const OpenedRun& b) {
  Json tables = Json::array();
  for (const ComparedPositions& table : compare_positions(a.inspection, b.inspection)) {
    if (!table.why_not.empty()) {
      tables.push_back({{"why_not", table.why_not}});
      continue;
    }
    float largest = 0;
    for (const float value : table.difference.values) largest = std::max(largest, std::abs(value));
    tables.push_back({{"table", table.name}, {"largest_difference", largest}});
  }
  return tables;
}

void inspect(OpenedRun& side, const std::string& source) {
  inspect_model(side.engine->model(), side.engine->tokenizer(), {.text = source},
                [&](Snapshot latest) { side.inspection = std::move(latest); }, {});
}

Json side_json(const OpenedRun& side) {
  return {{"run", side.folder},
          {"steps", side.run.step},
          {"parameters", side.run.num_parameters},
          {"loss", last_of(side.run.metrics, metric("loss"))},
          {"validation_nll", last_of(side.run.metrics, metric("validation_nll"))}};
}

Json comparison_json(OpenedRun& a, OpenedRun& b, const CompareOptions& options) {
  const std::vector<FieldDifference> differing = differences(a.config(), b.config());
  Json fields = Json::array();
  for (const FieldDifference& field : differing)
    fields.push_back({{"field", field.key}, {"a", field.a}, {"b", field.b}});
  const std::string why = other_batches(a.config(), b.config());
  return {{"title", title_of(differing)},
          {"a", side_json(a)},
          {"b", side_json(b)},
          {"differences", fields},
          {"same_batches", why.empty()},
          {"why_not", why.empty() ? Json() : Json(why)},
          {"losses", losses_json(a, b)},
          {"scores", scores_json(a, b, options)},
          {"source", options.source},
          {"outputs", outputs_json(a, b)},
          {"heads", heads_json(a, b)},
          {"positions", positions_json(a, b)}};
}

// ---- text output

std::string text_of(const Json& value) {
  return value.is_number_float() ? fmt::format("{:.4f}", value.get<double>()) : value.is_null() ? "—" : value.dump();
}

void print_row(const std::string& what, const Json& a, const Json& b) {
  fmt::print("{:<20} {:>12} {:>12}\n", what, text_of(a), text_of(b));
}

struct Score {
  const char* key;
  const char* label;
};
constexpr std::array<Score, 7> scores = {{{"pairs", "pairs"},
                                          {"characters", "characters"},
                                          {"nll", "NLL, nats/token"},
                                          {"bits_per_character", "bits per character"},
                                          {"bleu", "BLEU"},
                                          {"exact_match", "exact match"},
                                          {"pronoun_gender", "il/elle right"}}};

void print_scores(const Json& a, const Json& b) {
  for (const Score& score : scores)
    if (a.contains(score.key) || b.contains(score.key))
      print_row(score.label, a.value(score.key, Json()), b.value(score.key, Json()));
  for (const auto& [name, side] : {std::pair("A", &a), std::pair("B", &b)})
    if (side->contains("why_not")) fmt::print("{} was not scored: {}\n", name, side->at("why_not").get<std::string>());
}

void print(const Json& json) {
  fmt::print("{}\n", json["title"].get<std::string>());
  if (json["why_not"].is_string()) fmt::print("{}\n", json["why_not"].get<std::string>());
  fmt::print("{:<20} {:>12} {:>12}\n", "", "A", "B");
  print_row("steps", json["a"]["steps"], json["b"]["steps"]);
  print_row("loss", json["a"]["loss"], json["b"]["loss"]);
  print_row("validation NLL", json["a"]["validation_nll"], json["b"]["validation_nll"]);
  print_scores(json["scores"]["a"], json["scores"]["b"]);
  const Json& outputs = json["outputs"];
  if (outputs.contains("a")) {
    fmt::print("Output of A: {}\nOutput of B: {}\n", outputs["a"].get<std::string>(), outputs["b"].get<std::string>());
  } else {
    fmt::print("{}\n", outputs["why_not"].get<std::string>());
  }
  for (const Json& head : json["heads"]) {
    const std::string apart = head.contains("apart") ? fmt::format("distance {:.3f}", head["apart"].get<double>())
                                                     : "—  " + head["why_not"].get<std::string>();
    fmt::print("{:<20} {}\n", head["head"].get<std::string>(), apart);
  }
}

ComparedRuns named_runs(const CompareOptions& options) {
  return options.comparison.empty() ? ComparedRuns{options.a, options.b}
                                    : load_comparison(ComparisonFolder{options.comparison});
}

}  // namespace

int compare(const CompareOptions& options) {
  const ComparedRuns folders = named_runs(options);
  OpenedRun a = opened(folders.a.string(), std::make_unique<TorchEngine>());
  OpenedRun b = opened(folders.b.string(), a.engine->sibling());
  inspect(a, options.source);
  inspect(b, options.source);
  const Json json = comparison_json(a, b, options);
  if (options.json) {
    fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  } else {
    print(json);
  }
  return 0;
}

}  // namespace attnscope
