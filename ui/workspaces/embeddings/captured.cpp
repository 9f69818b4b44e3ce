// The hidden states of a capture: the sentence's tokens layer by layer, and the similarity of the layers.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/translation.h"
#include "widgets/heatmap.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/embeddings/modes.h"

namespace attnscope {
namespace {

// Without a decoder's tokens, the source is what the hidden states belong to.
const std::vector<Token>& tokens_of(const Snapshot& snapshot) {
  return snapshot.encoder.empty() ? snapshot.target_in : snapshot.source;
}

// Returns the pointed token.
int draw_layer(const Snapshot& snapshot, std::size_t layer, CapturedLayersView& view, ImVec2 size, const Skin& skin) {
  const HiddenLayer& hidden = snapshot.captured->hidden[layer];
  const std::vector<Token>& tokens = tokens_of(snapshot);
  ImGui::BeginChild(static_cast<ImGuiID>(layer + 1), size, false, ImGuiWindowFlags_NoScrollbar);
  bold_text(layer_names(layer + 1).back(), skin);
  std::vector<ImVec2> points;
  for (int row = 0; row < hidden.points.rows; ++row)
    points.push_back({hidden.points.at(row, 0), hidden.points.at(row, 1)});
  const std::vector<Color32> colors(points.size(), faded(skin.theme.series[0], 0.85F));
  std::vector<int> important(points.size()), marked;
  std::iota(important.begin(), important.end(), 0);
  if (view.pointed >= 0 && view.pointed < std::ssize(points)) marked.push_back(view.pointed);
  const std::string x_axis = trf("axis 1: {:.0f} %", 100 * hidden.shares[0]);
  const std::string y_axis = trf("axis 2: {:.0f} % of the variance", 100 * hidden.shares[1]);
  ScatterOptions options;
  options.points = points;
  options.colors = colors;
  options.label = [&](int row) { return one_line(without_mark(tokens[static_cast<std::size_t>(row)].text)); };
  options.marked = marked;
  options.important = important;
  options.x_axis = x_axis;
  options.y_axis = y_axis;
  options.tooltip = [&](int row) {
    mono_text(tokens[static_cast<std::size_t>(row)].text, skin);
    ImGui::TextDisabled("%s", trf("position {}", row).c_str());
  };
  view.scatters.resize(snapshot.captured->hidden.size());
  const int hovered = draw_scatter("layer", options, view.scatters[layer], {0, 0}, skin).hovered;
  ImGui::EndChild();
  return hovered;
}

void draw_maps(const Snapshot& snapshot, CapturedLayersView& view, ImVec2 room, const Skin& skin) {
  const int count = static_cast<int>(snapshot.captured->hidden.size());
  const float gap = skin.px(12);
  const int fitting = std::max(1, static_cast<int>((room.x + gap) / (skin.px(170) + gap)));
  const int rows = (count + fitting - 1) / fitting, cols = (count + rows - 1) / rows;
  const ImVec2 size{
      std::floor((room.x - gap * static_cast<float>(cols)) / static_cast<float>(cols)),
      std::max(skin.px(170), std::floor((room.y - gap * static_cast<float>(rows)) / static_cast<float>(rows)))};
  ImGui::BeginChild("layers", room, false);
  int hovered = -1;
  for (int i = 0; i < count; ++i) {
    if (i % cols != 0) ImGui::SameLine(0, gap);
    hovered = std::max(hovered, draw_layer(snapshot, static_cast<std::size_t>(i), view, size, skin));
  }
  view.pointed = hovered;
  ImGui::EndChild();
}

}  // namespace

std::vector<std::string> layer_names(std::size_t count) {
  std::vector<std::string> names = {tr("embedding")};
  while (names.size() < count) names.push_back(trf("layer {}", names.size()));
  return names;
}

void draw_captured_layers(WorkspaceContext& context, EmbeddingsView& embeddings) {
  const Skin& skin = context.skin;
  CapturedLayersView& view = embeddings.captured;
  const Shown& shown = context.maps.complete;
  view.snapshot = shown.snapshot;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (!shown.snapshot || !shown.snapshot->captured || shown.snapshot->captured->hidden.empty())
    return draw_quiet_note(tr("This view shows the hidden states of a capture. Open a capture that contains them."),
                           room, skin);
  const Snapshot& snapshot = *shown.snapshot;
  draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                     tr("Left: every token's vector after each layer, projected onto the two directions of largest "
                        "variance. Right: the cosine of a token's vectors in two layers, averaged over the tokens."),
                     skin);
  const ImVec2 rest = ImGui::GetContentRegionAvail();
  const float side = std::min(rest.x * 0.36F, rest.y);
  draw_maps(snapshot, view, {rest.x - side - skin.px(12), rest.y}, skin);
  ImGui::SameLine(0, skin.px(12));
  ImGui::BeginChild("similarity", {side, rest.y}, false, ImGuiWindowFlags_NoScrollbar);
  draw_caption(tr("Similarity of layers"), tr("mean cosine"),
               tr("1: the layers leave the directions of all vectors unchanged; 0: they are unrelated; negative: "
                  "opposite."),
               skin);
  const Matrix& similarity = snapshot.captured->layer_similarity;
  const std::vector<std::string> names = layer_names(static_cast<std::size_t>(similarity.rows));
  HeatmapOptions options;
  options.row_labels = options.col_labels = names;
  options.map = skin.theme.diverging;
  options.low = -1;
  draw_heatmap("similarity", similarity, shown.version, {0, 0}, options, context.textures, skin);
  ImGui::EndChild();
}

}  // namespace attnscope
