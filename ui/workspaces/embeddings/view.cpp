#include "workspaces/embeddings/view.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/embedding_measures.h"
#include "analysis/matrix_algebra.h"
#include "common/clamped.h"

namespace attnscope {
namespace {

constexpr double seconds_to_move = 0.4;

Matrix matrix_of(const std::vector<ImVec2>& points) {
  Matrix matrix(static_cast<int>(points.size()), 2);
  for (std::size_t i = 0; i < points.size(); ++i) {
    matrix.values[2 * i] = points[i].x;
    matrix.values[2 * i + 1] = points[i].y;
  }
  return matrix;
}

std::vector<ImVec2> points_of(const Matrix& matrix) {
  std::vector<ImVec2> points;
  for (int row = 0; row < matrix.rows; ++row) points.push_back({matrix.at(row, 0), matrix.at(row, 1)});
  return points;
}

bool is_word(const std::string& token) {
  return token.starts_with(word_mark) && token.size() > word_mark.size() + 1;
}

// Words before subwords, frequent ones first.
std::vector<int> by_importance(const Vocabulary& vocabulary) {
  std::vector<int> ids;
  for (int id = 0; id < static_cast<int>(vocabulary.tokens.size()); ++id) ids.push_back(id);
  const auto rank = [&](int id) {
    const auto at = static_cast<std::size_t>(id);
    const std::int64_t count = vocabulary.facts.empty() ? -id : vocabulary.facts[at].count;
    const bool known = !vocabulary.facts.empty() && vocabulary.facts[at].word.kind != WordKind::unknown;
    return std::tuple(known, is_word(vocabulary.tokens[at]), count);
  };
  std::ranges::stable_sort(ids, std::ranges::greater(), rank);
  return ids;
}

// Selects the initial example: "king" and related words, if the vocabulary has them.
void begin(EmbeddingsView& view) {
  view.begun = true;
  const Vocabulary& vocabulary = *view.inspection->vocabulary;
  if (find_token(vocabulary, "king") >= 0) {
    view.wanted.chosen = "king";
  } else {
    choose_token(view, view.important.empty() ? -1 : view.important.front());
  }
  const std::array<std::string, 3> analogy = {"man", "king", "woman"};
  const auto is_there = [&](const std::string& word) { return find_token(vocabulary, word) >= 0; };
  if (std::ranges::all_of(analogy, is_there)) view.wanted.analogy = analogy;
  if (vocabulary.knows_words) view.color = TokenColor::gender;
}

void take_embeddings(EmbeddingsView& view, const std::shared_ptr<const EmbeddingResult>& inspection, double time) {
  if (view.inspection == inspection) return;
  const bool other_matrix =
      view.inspection && (view.inspection->matrix != inspection->matrix || view.inspection->width != inspection->width);
  if (!view.inspection || view.inspection->vocabulary != inspection->vocabulary)
    view.important = by_importance(*inspection->vocabulary);
  view.inspection = inspection;
  ++view.apart_version;
  if (!view.begun) begin(view);
  if (view.map == inspection->map) return;
  view.map = inspection->map;
  if (other_matrix || !view.map) view.points = {};
  if (view.map) view.points.go_to(view.map->points, time);
}

void take_senses(SensesView& view, const std::shared_ptr<const SenseResult>& inspection, double time) {
  if (view.inspection == inspection) return;
  const bool same = view.inspection && view.inspection->word == inspection->word &&
                    view.inspection->layers.size() == inspection->layers.size();
  if (!same) view.layers = {};
  view.inspection = inspection;
  view.layers.resize(inspection->layers.size());
  view.scatters.resize(inspection->layers.size());
  for (std::size_t i = 0; i < inspection->layers.size(); ++i) view.layers[i].go_to(inspection->layers[i].points, time);
}

}  // namespace

void MovingPoints::go_to(const Matrix& points, double time) {
  const bool same = now.size() == static_cast<std::size_t>(points.rows) && !now.empty();
  to = points_of(same ? product(points, procrustes(matrix_of(to), points)) : points);
  from = same ? now : to;
  now = from;
  began = same ? time : -1;
}

void MovingPoints::advance(double time) {
  if (!are_moving()) return;
  const double share = clamped((time - began) / seconds_to_move, 0.0, 1.0);
  const auto eased = static_cast<float>(share * share * (3 - 2 * share));
  for (std::size_t i = 0; i < now.size(); ++i)
    now[i] = {from[i].x + (to[i].x - from[i].x) * eased, from[i].y + (to[i].y - from[i].y) * eased};
  if (share >= 1) began = -1;
}

void take_inspection(EmbeddingsView& view, const Snapshot* live, double time) {
  if (live && live->run != view.run) {  // token IDs change with the run; typed text is retained
    view.run = live->run;
    view.inspection.reset();
    view.map.reset();
    view.points = {};
    view.scatter = view.tsne_scatter = {};
    view.matched.clear();
    view.tsne.reset();
    view.by_tsne = false;
    view.begun = false;
    view.senses.inspection.reset();
    view.senses.layers.clear();
  }
  if (live && live->embeddings) take_embeddings(view, live->embeddings, time);
  if (live && live->senses) take_senses(view.senses, live->senses, time);
  view.points.advance(time);
  for (MovingPoints& layer : view.senses.layers) layer.advance(time);
}

void take_tsne(EmbeddingsView& view, const TsneMap& map, std::uint64_t run) {
  view.tsne = map;
  view.tsne_run = run;
  view.by_tsne = true;
  view.tsne_scatter = {};
  constexpr float none = std::numeric_limits<float>::quiet_NaN();
  const std::size_t last = map.ids.empty() ? 0 : static_cast<std::size_t>(map.ids.back()) + 1;
  view.tsne_points.assign(last, {none, none});
  for (std::size_t i = 0; i < map.ids.size(); ++i) {
    const auto row = static_cast<int>(i);
    view.tsne_points[static_cast<std::size_t>(map.ids[i])] = {map.points.at(row, 0), map.points.at(row, 1)};
  }
}

void choose_token(EmbeddingsView& view, int id) {
  const bool none = id < 0 || !view.inspection || id >= static_cast<int>(view.inspection->vocabulary->tokens.size());
  view.wanted.chosen = none ? std::string() : name_of(*view.inspection->vocabulary, id);
}

void click_token(EmbeddingsView& view, int id) {
  if (view.slot < 0 || id < 0) return choose_token(view, id);
  view.wanted.analogy[static_cast<std::size_t>(view.slot)] = name_of(*view.inspection->vocabulary, id);
  view.slot = view.slot == 2 ? -1 : view.slot + 1;
}

std::string name_of(const Vocabulary& vocabulary, int id) {
  return token_name(vocabulary.tokens[static_cast<std::size_t>(id)]);
}

std::vector<int> matching(const Vocabulary& vocabulary, const std::string& text) {
  std::vector<int> begin, inside;
  if (text.empty()) return begin;
  for (int id = 0; id < static_cast<int>(vocabulary.tokens.size()); ++id) {
    const std::size_t at = without_mark(vocabulary.tokens[static_cast<std::size_t>(id)]).find(text);
    if (at != std::string_view::npos) (at == 0 ? begin : inside).push_back(id);
  }
  const auto length = [&](int id) { return vocabulary.tokens[static_cast<std::size_t>(id)].size(); };
  std::ranges::stable_sort(begin, {}, length);
  begin.insert(begin.end(), inside.begin(), inside.end());
  return begin;
}

}  // namespace attnscope
