// The embeddings command: neighbors, analogies, senses, and an overview without these options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>
#include <stdexcept>

#include "analysis/embedding_measures.h"
#include "commands/attention_json.h"
#include "commands/commands.h"
#include "compute/opening.h"
#include "commands/progress.h"
#include "config/config.h"
#include "data/corpus/words.h"
#include "engine/torch_engine.h"
#include "inspect/probe/tensors.h"
#include "messages/senses.h"

namespace attnscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr int good_rank = 3;

EmbeddingMatrix matrix_named(const std::string& name) {
  const auto found = std::ranges::find(embedding_matrix_names, name);
  return static_cast<EmbeddingMatrix>(found - embedding_matrix_names.begin());
}

// "king - man + woman" → man, king, woman: a is to b as c is to ?
std::array<std::string, 3> analogy_from(const std::string& text) {
  std::istringstream in(text);
  std::string b, minus, a, plus, c, rest;
  in >> b >> minus >> a >> plus >> c;
  if (!c.empty() && !(in >> rest) && (minus == "-" || minus == "−") && plus == "+") return {a, b, c};
  throw ConfigError(fmt::format("--analogy: \"{}\" does not have the form \"king - man + woman\"", text));
}

Json neighbour_json(const Vocabulary& vocabulary, const Neighbour& neighbour) {
  return {{"id", neighbour.id},
          {"token", vocabulary.tokens[static_cast<std::size_t>(neighbour.id)]},
          {"cosine", neighbour.cosine}};
}

Json neighbours_json(const Vocabulary& vocabulary, const std::vector<Neighbour>& list) {
  Json json = Json::array();
  for (const Neighbour& neighbour : list) json.push_back(neighbour_json(vocabulary, neighbour));
  return json;
}

void print_neighbours(const Vocabulary& vocabulary, const std::vector<Neighbour>& list) {
  int rank = 0;
  for (const auto& [id, cosine] : list)
    fmt::print("{:>4}  {:>7.4f}  {}\n", ++rank, cosine, vocabulary.tokens[static_cast<std::size_t>(id)]);
}

// ---- the built-in corpus's analogies between men and women

struct AnalogyScores {
  int asked = 0;
  int first = 0;                           // answer at rank 1
  int good = 0;                            // answer at good_rank or better
  std::vector<std::string_view> left_out;  // words that are not a single token
  Json answers = Json::array();
};

AnalogyScores score_analogies(const Vocabulary& vocabulary, const Matrix& vectors) {
  AnalogyScores scores;
  const std::vector<float> norms = row_norms(vectors);
  std::vector<GenderPair> pairs;
  for (const GenderPair& pair : gender_pairs()) {
    const bool whole = find_token(vocabulary, pair.man) >= 0 && find_token(vocabulary, pair.woman) >= 0;
    if (whole) pairs.push_back(pair);
    for (const std::string_view word : {pair.man, pair.woman})
      if (find_token(vocabulary, word) < 0) scores.left_out.push_back(word);
  }
  for (const GenderPair& from : pairs) {
    for (const GenderPair& to : pairs) {
      if (from.man == to.man) continue;
      const std::array ids = {find_token(vocabulary, from.man), find_token(vocabulary, to.man),
                              find_token(vocabulary, from.woman)};
      const std::vector<float> query = analogy_vector(vectors, ids[0], ids[1], ids[2]);
      const int rank = rank_of(vectors, norms, query, ids, find_token(vocabulary, to.woman));
      ++scores.asked;
      if (rank == 1) ++scores.first;
      if (rank >= 1 && rank <= good_rank) ++scores.good;
      scores.answers.push_back({{"analogy", fmt::format("{} - {} + {}", to.man, from.man, from.woman)},
                                {"answer", to.woman},
                                {"rank", rank}});
    }
  }
  return scores;
}

double percent(int part, int whole) {
  return whole == 0 ? 0 : 100.0 * part / whole;
}

// ---- answers as JSON and as text

Json overview(TorchEngine& engine, const EmbeddingResult& inspection, bool print) {
  const EmbeddingMap& map = *inspection.map;
  const auto distance = [&](double share) {
    if (map.distances.empty()) return 0.0F;
    return map.distances[static_cast<std::size_t>(share * static_cast<double>(map.distances.size() - 1))];
  };
  Json json = {{"tokens", inspection.vocabulary->tokens.size()},
               {"width", inspection.width},
               {"used_tokens", map.used},
               {"shares_of_variance", map.shares},
               {"distances",
                {{"pairs", map.distances.size()},
                 {"one_hot", std::numbers::sqrt2},
                 {"median", distance(0.5)},
                 {"nearest_1_percent", distance(0.01)}}},
               {"recorded_steps", inspection.recorded_steps}};
  if (print) {
    fmt::print("{} of {} tokens × {}, step {}\n", matrix_title(inspection.matrix, engine.config().model),
               inspection.vocabulary->tokens.size(), inspection.width, inspection.step);
    fmt::print(
        "statistics over the {} tokens {}\n", map.used,
        inspection.vocabulary->facts.empty() ? "of the vocabulary" : "that occur in a sample of the training part");
    if (map.shares.size() > 1)
      fmt::print("first two principal components: {:.1f} % and {:.1f} % of the variance\n", 100 * map.shares[0],
                 100 * map.shares[1]);
    fmt::print(
        "distance between the normalized vectors of {} random pairs: median {:.3f}, nearest 1 % {:.3f}; one-hot "
        "vectors: always {:.3f}\n",
        map.distances.size(), distance(0.5), distance(0.01), std::numbers::sqrt2);
  }
  if (!is_english_french(engine.config().corpus)) return json;
  const AnalogyScores scores =
      score_analogies(*inspection.vocabulary, to_matrix(engine.model().embedding_rows(inspection.matrix)));
  json["analogies"] = {{"asked", scores.asked},
                       {"rank_1", scores.first},
                       {fmt::format("rank_{}_or_better", good_rank), scores.good},
                       {"left_out", scores.left_out},
                       {"answers", scores.answers}};
  if (!print) return json;
  fmt::print("gender analogies: {} of {} at rank 1 ({:.0f} %), {} at rank {} or better ({:.0f} %)\n", scores.first,
             scores.asked, percent(scores.first, scores.asked), scores.good, good_rank,
             percent(scores.good, scores.asked));
  if (!scores.left_out.empty())
    fmt::print("skipped because they are not single tokens: {}\n", fmt::join(scores.left_out, ", "));
  return json;
}

Json neighbours(const EmbeddingResult& inspection, bool print) {
  const Vocabulary& vocabulary = *inspection.vocabulary;
  Json json = {{"token", vocabulary.tokens[static_cast<std::size_t>(inspection.chosen)]},
               {"nearest", neighbours_json(vocabulary, inspection.neighbours.nearest)}};
  if (print) print_neighbours(vocabulary, inspection.neighbours.nearest);
  if (inspection.earlier.nearest.empty()) return json;
  json["earlier"] = {{"step", inspection.earlier.step},
                     {"nearest", neighbours_json(vocabulary, inspection.earlier.nearest)}};
  if (print) {
    fmt::print("at step {}:\n", inspection.earlier.step);
    print_neighbours(vocabulary, inspection.earlier.nearest);
  }
  return json;
}

Json senses(const SenseResult& inspection, bool print) {
  std::vector<int> counts(inspection.groups.size());
  for (const Occurrence& occurrence : inspection.occurrences) ++counts[static_cast<std::size_t>(occurrence.group)];
  Json groups = Json::array();
  for (std::size_t i = 0; i < counts.size(); ++i)
    groups.push_back({{"name", inspection.groups[i]}, {"sentences", counts[i]}});
  Json layers = Json::array();
  for (const SenseLayer& layer : inspection.layers)
    layers.push_back({{"name", layer.name},
                      {"separation", layer.separation},
                      {"probe", layer.probe},
                      {"probe_control", layer.control},
                      {"shares_of_variance", layer.shares}});
  if (print) {
    fmt::print("{} in {} sentences, grouped by {}{}\n", inspection.token, inspection.occurrences.size(),
               inspection.grouped_by, inspection.lowered ? "; lowercased in all of them" : "");
    for (std::size_t i = 0; i < counts.size(); ++i) fmt::print("  {:>4}  {}\n", counts[i], inspection.groups[i]);
    fmt::print(
        "separation (mean silhouette, −1 to 1); linear probe on held-out sentences, and with shuffled groups:\n");
    for (const SenseLayer& layer : inspection.layers)
      fmt::print("  {:>6.3f}  {:>5.1f} % {:>5.1f} %  {}\n", layer.separation, 100 * layer.probe, 100 * layer.control,
                 layer.name);
  }
  return {{"word", inspection.word},     {"token", inspection.token}, {"lowered", inspection.lowered},
          {"by", inspection.grouped_by}, {"groups", groups},          {"layers", layers}};
}

void refuse_if_any(const char* option, const std::string& problem) {
  if (!problem.empty()) throw ConfigError(fmt::format("{}: {}", option, problem));
}

}  // namespace

int embeddings(const EmbeddingsOptions& options) {
  EmbeddingsWanted wanted{.matrix = matrix_named(options.table), .chosen = options.neighbours};
  if (!options.analogy.empty()) wanted.analogy = analogy_from(options.analogy);
  ProgressLine line;
  TorchEngine engine;
  open_run(engine, options.run, line);
  const std::shared_ptr<const EmbeddingResult> inspection = engine.embeddings(wanted);
  if (!inspection->problem.empty()) throw std::runtime_error(inspection->problem);
  refuse_if_any("--neighbours", inspection->chosen_problem);
  refuse_if_any("--analogy", inspection->analogy_problem);
  const bool print = !options.json;
  Json json = {{"step", inspection->step}, {"table", matrix_title(inspection->matrix, engine.config().model)}};
  if (!options.neighbours.empty()) json["neighbours"] = neighbours(*inspection, print);
  if (!options.analogy.empty()) {
    json["analogy"] = {{"asked", options.analogy},
                       {"answers", neighbours_json(*inspection->vocabulary, inspection->answers)}};
    if (print) print_neighbours(*inspection->vocabulary, inspection->answers);
  }
  if (!options.senses.empty()) {
    const std::shared_ptr<const SenseResult> seen = engine.senses(options.senses, {});
    refuse_if_any("--senses", seen->problem);
    json["senses"] = senses(*seen, print);
  }
  if (json.size() == 2) json.update(overview(engine, *inspection, print));
  if (options.json) fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  return 0;
}

}  // namespace attnscope
