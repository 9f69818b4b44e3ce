#include "inspect/probe/embeddings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "analysis/embedding_measures.h"
#include "common/mark.h"
#include "inspect/probe/principal_axes.h"
#include "inspect/probe/tensors.h"

namespace attnscope {
namespace {

constexpr std::size_t most_kept = 3;  // the current step, the one shown and an earlier one
constexpr int sampled_pairs = 2000;
constexpr std::int64_t drawn_axes = 2;
constexpr int near_apart = 7, far_apart = 8;  // numbers of words next to the selected one

// The tokens that occur in the sample of the training part, or all if fewer than two do: a vector that no sentence uses
// says nothing about what was learned.
std::vector<int> used_tokens(const Vocabulary& vocabulary, int rows) {
  std::vector<int> used, all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), 0);
  for (const int id : all)
    if (static_cast<std::size_t>(id) < vocabulary.facts.size() &&
        vocabulary.facts[static_cast<std::size_t>(id)].count > 0)
      used.push_back(id);
  return used.size() < 2 ? all : used;
}

std::shared_ptr<const EmbeddingMap> map_of(const Matrix& vectors, const std::vector<float>& norms,
                                           const Vocabulary& vocabulary) {
  auto map = std::make_shared<EmbeddingMap>();
  const torch::Tensor rows = torch::from_blob(const_cast<float*>(vectors.values.data()), {vectors.rows, vectors.cols});
  const std::vector<int> used = used_tokens(vocabulary, vectors.rows);
  map->used = static_cast<int>(used.size());
  PrincipalAxes axes = principal_axes(rows, drawn_axes, ids_tensor(used, torch::kCPU).squeeze(0));
  map->points = std::move(axes.points);
  map->shares = std::move(axes.shares);
  map->distances = sampled_distances(vectors, norms, used);
  const auto [smallest, largest] = std::ranges::minmax(norms);
  map->smallest_norm = smallest;
  map->largest_norm = largest;
  return map;
}

std::string problem_of(const Matrix& vectors, std::int64_t step) {
  if (vectors.rows < 2)
    return mark("The vocabulary has only one token, so there is nothing to compare it with: train on a larger text.");
  const auto bad = std::ranges::find_if(vectors.values, [](float value) { return !std::isfinite(value); });
  if (bad == vectors.values.end()) return {};
  return fmt::format(mark("The embedding matrix at step {} contains numbers that are not finite, so there is no map. "
                          "Open the run again to "
                          "return to its last checkpoint, or press Reset with a lower learning rate."),
                     step);
}

// The nearest recorded step.
std::int64_t nearest_step(const std::vector<std::int64_t>& steps, std::int64_t step) {
  return *std::ranges::min_element(steps, {}, [&](std::int64_t other) { return std::abs(other - step); });
}

// Frequent tokens that are far from the selected one, to contrast near and far.
std::vector<int> far_tokens(const Vocabulary& vocabulary, std::span<const int> near, std::span<const float> norms) {
  std::vector<int> by_count;
  for (int id = 4; id < static_cast<int>(vocabulary.tokens.size()); ++id) {
    const bool word = vocabulary.tokens[static_cast<std::size_t>(id)].size() > 5;
    if (word && norms[static_cast<std::size_t>(id)] > 0 && std::ranges::find(near, id) == near.end())
      by_count.push_back(id);
  }
  const auto count = [&](int id) {
    return vocabulary.facts.empty() ? 0 : -vocabulary.facts[static_cast<std::size_t>(id)].count;
  };
  std::ranges::stable_sort(by_count, {}, count);
  by_count.resize(std::min(by_count.size(), std::size_t{far_apart}));
  return by_count;
}

NeighbourList neighbours_in(const Matrix& vectors, const std::vector<float>& norms, std::int64_t step, int id) {
  const std::span row = std::span(vectors.values).subspan(static_cast<std::size_t>(id) * vectors.cols, vectors.cols);
  return {step, nearest(vectors, norms, row, std::array{id}, most_neighbours)};
}

}  // namespace

std::string token_problem(const Tokenizer& tokenizer, const std::string& word) {
  const std::vector<Token> tokens = tokenizer.encode(word);
  std::string texts;
  for (const Token& token : tokens) texts += (texts.empty() ? "" : " ") + token.text;
  if (tokens.size() < 2) return fmt::format(mark("The vocabulary has no token \"{}\"."), word);
  return fmt::format(
      mark("\"{}\" is not a single token of the vocabulary. It splits into {} tokens: {}; choose one of them."), word,
      tokens.size(), texts);
}

std::vector<float> sampled_distances(const Matrix& vectors, const std::vector<float>& norms, std::span<const int> ids) {
  std::vector<int> rows;
  for (const int row : ids)
    if (norms[static_cast<std::size_t>(row)] > 0) rows.push_back(row);
  std::vector<float> distances;
  if (rows.size() < 2) return distances;
  std::mt19937 random(1);
  std::uniform_int_distribution<std::size_t> any(0, rows.size() - 1);
  for (int i = 0; i < sampled_pairs; ++i) {
    const std::array pair = {rows[any(random)], rows[any(random)]};
    if (pair[0] != pair[1]) distances.push_back(unit_distances(vectors, pair).at(0, 1));
  }
  std::ranges::sort(distances);
  return distances;
}

std::shared_ptr<EmbeddingAnalyzer::Rows> EmbeddingAnalyzer::rows_of(const SequenceModel& model, EmbeddingMatrix matrix,
                                                                    std::int64_t step, bool recorded,
                                                                    const EmbeddingSource& source) {
  const auto is_it = [&](const std::shared_ptr<Rows>& kept) { return kept->matrix == matrix && kept->step == step; };
  const auto found = std::ranges::find_if(kept_, is_it);
  if (found != kept_.end()) {
    std::rotate(found, found + 1, kept_.end());
    return kept_.back();
  }
  auto made = std::make_shared<Rows>();
  made->matrix = matrix;
  made->step = step;
  made->vectors = to_matrix(recorded ? source.rows_at(step, matrix) : model.embedding_rows(matrix));
  made->norms = row_norms(made->vectors);
  made->problem = problem_of(made->vectors, step);
  if (kept_.size() == most_kept) kept_.erase(kept_.begin());
  kept_.push_back(made);
  return made;
}

void EmbeddingAnalyzer::answer_chosen(const std::string& word, const Rows& rows, const Tokenizer& tokenizer,
                                      EmbeddingResult& inspection) const {
  if (word.empty()) return;
  inspection.chosen = find_token(*vocabulary_, word);
  if (inspection.chosen < 0) {
    inspection.chosen_problem = token_problem(tokenizer, word);
    return;
  }
  inspection.neighbours = neighbours_in(rows.vectors, rows.norms, rows.step, inspection.chosen);
  if (inspection.neighbours.nearest.empty()) {
    inspection.chosen_problem =
        fmt::format(mark("\"{}\" has a zero vector, which has no direction: it has no neighbors."), word);
    return;
  }
  std::vector<int> ids = {inspection.chosen};
  for (const Neighbour& neighbour : inspection.neighbours.nearest)
    if (ids.size() <= near_apart) ids.push_back(neighbour.id);
  for (const int id : far_tokens(*vocabulary_, ids, rows.norms)) ids.push_back(id);
  inspection.apart = unit_distances(rows.vectors, ids);
  inspection.apart_ids = std::move(ids);
}

void EmbeddingAnalyzer::answer_analogy(const std::array<std::string, 3>& words, const Rows& rows,
                                       const Tokenizer& tokenizer, EmbeddingResult& inspection) const {
  for (std::size_t i = 0; i < words.size(); ++i) {
    inspection.analogy[i] = words[i].empty() ? -1 : find_token(*vocabulary_, words[i]);
    if (inspection.analogy[i] < 0 && !words[i].empty()) inspection.analogy_problem = token_problem(tokenizer, words[i]);
  }
  const auto [a, b, c] = inspection.analogy;
  if (a < 0 || b < 0 || c < 0) return;
  inspection.answers =
      nearest(rows.vectors, rows.norms, analogy_vector(rows.vectors, a, b, c), inspection.analogy, most_neighbours);
}

std::shared_ptr<const EmbeddingResult> EmbeddingAnalyzer::inspect(const SequenceModel& model,
                                                                  const Tokenizer& tokenizer,
                                                                  const EmbeddingsWanted& wanted,
                                                                  const EmbeddingSource& source) {
  const ModelConfig& config = model.config();
  auto inspection = std::make_shared<EmbeddingResult>();
  inspection->matrix = present_matrix(wanted.matrix, config);
  inspection->tied = config.tied_embeddings;
  inspection->width = static_cast<int>(config.d_model);
  inspection->recorded_steps = source.recorded;
  inspection->vocabulary = vocabulary_;
  inspection->step = source.step;
  if (wanted.step >= 0 && !source.recorded.empty()) {
    const std::int64_t nearest = nearest_step(source.recorded, wanted.step);
    inspection->recorded = std::abs(nearest - wanted.step) < std::abs(source.step - wanted.step);
    if (inspection->recorded) inspection->step = nearest;
  }
  const bool again = last_ && last_wanted_ == wanted && last_->step == inspection->step &&
                     last_->recorded_steps == inspection->recorded_steps;
  if (again) return last_;

  const std::shared_ptr<Rows> rows = rows_of(model, inspection->matrix, inspection->step, inspection->recorded, source);
  inspection->problem = rows->problem;
  if (inspection->problem.empty()) {
    if (!rows->map) rows->map = map_of(rows->vectors, rows->norms, *vocabulary_);
    inspection->map = rows->map;
    answer_chosen(wanted.chosen, *rows, tokenizer, *inspection);
    answer_analogy(wanted.analogy, *rows, tokenizer, *inspection);
  }
  const std::int64_t earlier =
      source.recorded.empty() ? inspection->step : nearest_step(source.recorded, wanted.earlier);
  if (inspection->chosen >= 0 && earlier < inspection->step) {
    const std::shared_ptr<Rows> then = rows_of(model, inspection->matrix, earlier, true, source);
    inspection->earlier = neighbours_in(then->vectors, then->norms, earlier, inspection->chosen);
  }
  last_ = inspection;
  last_wanted_ = wanted;
  return last_;
}

}  // namespace attnscope
