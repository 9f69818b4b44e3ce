#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/embeddings/modes.h"

namespace attnscope {
namespace {

constexpr std::array modes = {
    WorkspaceView{"map", "Map", "Every token's vector, projected onto the two directions of largest variance."},
    WorkspaceView{"senses", "One word, many sentences",
                  "One word's vectors in many sentences, layer by layer: context separates its senses."},
    WorkspaceView{"one-hot", "One-hot vs. learned",
                  "Why embeddings are learned: one-hot vectors carry no similarity between words."},
    WorkspaceView{
        "layers", "Captured layers",
        "The hidden states of a capture: a map of the tokens for every layer, and how similar the layers are.",
        "Layers", ViewNeeds::hidden},
};
static_assert(modes.size() == static_cast<std::size_t>(EmbeddingsMode::captured) + 1);

// ---- the keys

void go_to_nearest(WorkspaceContext& context) {
  EmbeddingsView& view = context.views.of<EmbeddingsView>();
  if (view.mode >= EmbeddingsMode::captured || view.mode == EmbeddingsMode::senses || !view.inspection) return;
  const std::vector<Neighbour>& nearest = view.inspection->neighbours.nearest;
  if (!nearest.empty()) choose_token(view, nearest.front().id);
}

template <int by>
void change_mode(WorkspaceContext& context) {
  EmbeddingsView& view = context.views.of<EmbeddingsView>();
  const int last = static_cast<int>(modes.size()) - 1;
  const int next = clamped(static_cast<int>(view.mode) + by, 0, last);
  const Snapshot* snapshot = context.maps.complete.snapshot.get();
  if (!snapshot || !view_refusal(modes[static_cast<std::size_t>(next)], *snapshot))
    view.mode = static_cast<EmbeddingsMode>(next);
}

void search(WorkspaceContext& context) {
  context.views.of<EmbeddingsView>().searching = true;
}

void fit(WorkspaceContext& context) {
  EmbeddingsView& view = context.views.of<EmbeddingsView>();
  view.scatter = view.tsne_scatter = {};
  for (ScatterView& scatter : view.senses.scatters) scatter = {};
  for (ScatterView& scatter : view.captured.scatters) scatter = {};
}

constexpr const char* next_mode = mark("next view, previous view");
constexpr std::array keys = {
    WorkspaceKey{{.key = Key::page_down}, next_mode, change_mode<1>},
    WorkspaceKey{{.key = Key::page_up}, next_mode, change_mode<-1>},
    WorkspaceKey{{.key = Key::down}, "the nearest token to the selected one", go_to_nearest},
    WorkspaceKey{{.key = Key::enter}, "search for a token or word", search},
    WorkspaceKey{{.key = Key::home}, "all points", fit},
};

WorkspaceNumbers map_numbers(const EmbeddingsView& view) {
  const EmbeddingResult& inspection = *view.inspection;
  const auto count = static_cast<int>(inspection.vocabulary->tokens.size());
  const bool tsne = view.by_tsne && view.tsne;
  WorkspaceNumbers numbers{Matrix(tsne ? view.tsne->points : inspection.map->points), {}, {"x", "y"}, "embedding map"};
  if (tsne) {
    for (const int id : view.tsne->ids)
      numbers.rows.push_back(inspection.vocabulary->tokens[static_cast<std::size_t>(id)]);
  } else {
    for (int id = 0; id < count; ++id)
      numbers.rows.push_back(inspection.vocabulary->tokens[static_cast<std::size_t>(id)]);
  }
  return numbers;
}

WorkspaceNumbers sense_numbers(const SenseResult& inspection) {
  const auto rows = static_cast<int>(inspection.occurrences.size());
  const auto layers = static_cast<int>(inspection.layers.size());
  WorkspaceNumbers numbers{Matrix(rows, 2 * layers), {}, {}, "senses of " + inspection.word};
  for (const Occurrence& occurrence : inspection.occurrences)
    numbers.rows.push_back(inspection.groups[static_cast<std::size_t>(occurrence.group)] + ": " + occurrence.sentence);
  for (int layer = 0; layer < layers; ++layer) {
    const SenseLayer& of = inspection.layers[static_cast<std::size_t>(layer)];
    for (const char* axis : {"x", "y"}) numbers.cols.push_back(fmt::format("{} {}", of.name, axis));
    for (int row = 0; row < rows; ++row)
      for (int axis = 0; axis < 2; ++axis) numbers.matrix.at(row, 2 * layer + axis) = of.points.at(row, axis);
  }
  return numbers;
}

WorkspaceNumbers distance_numbers(const EmbeddingResult& inspection) {
  WorkspaceNumbers numbers{inspection.apart, {}, {}, "distances"};
  for (const int id : inspection.apart_ids) numbers.rows.push_back(name_of(*inspection.vocabulary, id));
  numbers.cols = numbers.rows;
  return numbers;
}

WorkspaceNumbers captured_numbers(const Snapshot& snapshot) {
  const Matrix& similarity = snapshot.captured->layer_similarity;
  const std::vector<std::string> names = layer_names(static_cast<std::size_t>(similarity.rows));
  return {similarity, names, names, "similarity of layers"};
}

void draw_modes(EmbeddingsView& view, const Snapshot* snapshot, const Skin& skin) {
  view.mode = static_cast<EmbeddingsMode>(
      draw_view_choices(modes, static_cast<std::size_t>(view.mode), skin, {}, snapshot));
  end_choices();
}

}  // namespace

std::span<const WorkspaceKey> embedding_keys() {
  return keys;
}

std::span<const WorkspaceView> embedding_modes() {
  return modes;
}

void show_embedding_mode(Views& views, std::size_t mode) {
  views.of<EmbeddingsView>().mode = static_cast<EmbeddingsMode>(mode);
}

void ask_for_embeddings(const Views& views, Probe& probe) {
  const EmbeddingsView& view = views.of<EmbeddingsView>();
  if (view.mode == EmbeddingsMode::senses) {
    probe.senses = view.senses.word;
  } else {
    probe.embeddings = view.wanted;
  }
}

std::optional<WorkspaceNumbers> embedding_numbers(const Views& views) {
  const EmbeddingsView& view = views.of<EmbeddingsView>();
  if (view.mode == EmbeddingsMode::senses) {
    if (!view.senses.inspection || view.senses.inspection->layers.empty()) return std::nullopt;
    return sense_numbers(*view.senses.inspection);
  }
  if (view.mode == EmbeddingsMode::captured) {
    const Snapshot* snapshot = view.captured.snapshot.get();
    return snapshot && snapshot->captured ? std::optional(captured_numbers(*snapshot)) : std::nullopt;
  }
  if (!view.inspection || !view.inspection->map) return std::nullopt;
  if (view.mode == EmbeddingsMode::map) return map_numbers(view);
  if (view.inspection->apart.empty()) return std::nullopt;
  return distance_numbers(*view.inspection);
}

bool is_moving(const Views& views) {
  const EmbeddingsView& view = views.of<EmbeddingsView>();
  return view.points.are_moving() || std::ranges::any_of(view.senses.layers, &MovingPoints::are_moving);
}

void draw_embeddings(WorkspaceContext& context) {
  EmbeddingsView& view = context.views.of<EmbeddingsView>();
  take_inspection(view, context.live, ImGui::GetTime());
  draw_modes(view, context.maps.complete.snapshot.get(), context.skin);
  const auto room = [] { return ImGui::GetContentRegionAvail(); };
  if (view.mode == EmbeddingsMode::senses) return draw_senses(context, view);
  if (view.mode == EmbeddingsMode::captured) return draw_captured_layers(context, view);
  if (!view.inspection) return draw_quiet_note(tr("Reading the embeddings…"), room(), context.skin);
  if (!view.inspection->map) return draw_quiet_note(tr_filled(view.inspection->problem).c_str(), room(), context.skin);
  if (view.mode == EmbeddingsMode::map) return draw_embedding_map(context, view);
  draw_distances(context.live->model, view, context.textures, context.skin);
}

}  // namespace attnscope
