#include "workspaces/decoding_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "widgets/heatmap.h"
#include "widgets/token_strip.h"
#include "widgets/tooltip.h"
#include "workspaces/attention_text.h"

namespace attnscope {
namespace {

float button_width(const char* label) {
  return ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
}

// What comes next stands in the same line if it has room there.
void beside(float width, const Look& look) {
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  if (ImGui::GetItemRectMax().x + look.px(4) + width <= right) ImGui::SameLine(0, look.px(4));
}

// ---- whose attention

int shown_layer(const AttentionMaps& maps, const DecodingView& view) {
  const auto last = static_cast<int>(maps.size()) - 1;
  return view.layer < 0 ? last : std::min(view.layer, last);
}

bool means(const std::vector<Matrix>& heads, const DecodingView& view) {
  return view.head < 0 || view.head >= static_cast<int>(heads.size());
}

Matrix shown_map(const AttentionMaps& maps, const DecodingView& view) {
  const std::vector<Matrix>& heads = maps[static_cast<std::size_t>(shown_layer(maps, view))];
  if (!means(heads, view)) return heads[static_cast<std::size_t>(view.head)];
  Matrix mean(heads.front().rows, heads.front().cols);
  const float share = 1 / static_cast<float>(heads.size());
  for (const Matrix& head : heads) {
    for (std::size_t i = 0; i < mean.values.size(); ++i) mean.values[i] += share * head.values[i];
  }
  return mean;
}

// Changes whenever the map shown does.
std::uint64_t map_version(const Shown& shown, const AttentionMaps& maps, const DecodingView& view) {
  constexpr std::uint64_t most = 1024;  // layers and heads
  const auto layer = static_cast<std::uint64_t>(shown_layer(maps, view));
  return (shown.version * most + layer) * most + static_cast<std::uint64_t>(std::max(-1, view.head) + 1);
}

void draw_layer_chooser(const AttentionMaps& maps, DecodingView& view, const Look& look) {
  const int layer = shown_layer(maps, view);
  ImGui::SetNextItemWidth(look.px(84));
  if (ImGui::BeginCombo("##layer", fmt::format("layer {}", layer + 1).c_str())) {
    for (int i = 0; i < static_cast<int>(maps.size()); ++i) {
      if (ImGui::Selectable(fmt::format("layer {}", i + 1).c_str(), i == layer)) view.layer = i;
    }
    ImGui::EndCombo();
  }
  help_tooltip("Whose attention is shown: the decoder's layer (paper §3.1).", look);
}

void draw_head_chooser(const std::vector<Matrix>& heads, DecodingView& view, const Look& look) {
  const bool mean = means(heads, view);
  ImGui::SetNextItemWidth(look.px(136));
  if (ImGui::BeginCombo("##head", mean ? "mean of heads" : fmt::format("head {}", view.head + 1).c_str())) {
    if (ImGui::Selectable("mean of heads", mean)) view.head = -1;
    for (int i = 0; i < static_cast<int>(heads.size()); ++i) {
      if (ImGui::Selectable(fmt::format("head {}", i + 1).c_str(), i == view.head)) view.head = i;
    }
    ImGui::EndCombo();
  }
  help_tooltip("One head of that layer, or the mean of all its heads (paper §3.2.2).", look);
}

void draw_choosers(const AttentionMaps& maps, DecodingView& view, const Look& look) {
  if (maps.empty() || maps.size() * maps.front().size() < 2) return;  // nothing to choose from
  draw_layer_chooser(maps, view, look);
  ImGui::SameLine(0, look.px(4));
  draw_head_chooser(maps[static_cast<std::size_t>(shown_layer(maps, view))], view, look);
  beside(button_width("Steer this way"), look);
}

void draw_buttons(const HypothesisLook& hypothesis, DecodingView& view, const Look& look) {
  if (ImGui::Button("Steer this way")) steer(view, hypothesis.ids);
  help_tooltip(
      "Makes the decoder begin with these pieces: every mode then shows what it writes after them. “Let go”, above, "
      "undoes it.",
      look);
  beside(button_width("Step through"), look);
  if (ImGui::Button("Step through")) {
    steer(view, hypothesis.ids);
    view.mode = DecodingMode::steps;
    view.step = -1;
  }
  help_tooltip("The same, and shows it step by step: what the decoder saw and chose from at each.", look);
  beside(button_width("Best"), look);
  ImGui::BeginDisabled(view.hypothesis.empty());
  if (ImGui::Button("Best")) view.hypothesis.clear();
  ImGui::EndDisabled();
  help_tooltip("Looks at the best hypothesis of the beam again.", look);
}

void draw_map(const Shown& shown, const DecodingView& view, TextureStore& textures, const Look& look) {
  const HypothesisLook& hypothesis = shown.snapshot->decodings->hypothesis;
  const ModelConfig& model = shown.snapshot->model;
  if (hypothesis.maps.empty())
    return draw_quiet_note(no_attention_text(model).c_str(), ImGui::GetContentRegionAvail(), look);
  const std::vector<std::string> rows = token_labels(hypothesis.queries);
  const std::vector<std::string> cols = token_labels(hypothesis.keys);
  HeatmapOptions options;
  options.row_axis = model.is_language_model() ? "query (read)" : "written";
  options.col_axis = model.is_language_model() ? "key" : "source";
  options.row_labels = rows;
  options.col_labels = cols;
  options.stretch = 3;
  options.mask_upper = model.is_language_model();
  draw_heatmap("hypothesis", shown_map(hypothesis.maps, view), map_version(shown, hypothesis.maps, view), ImVec2(0, 0),
               options, textures, look);
}

std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) line += c == '\n' ? std::string(" ⏎ ") : std::string(1, c);
  return line;
}

}  // namespace

const Shown& settled(const Shown& shown, DecodingView& view, const Look& look) {
  const Snapshot& snapshot = *shown.snapshot;
  const Snapshot* before = view.settled.snapshot.get();
  const bool same = before != nullptr && before->run == snapshot.run && before->source_text == snapshot.source_text;
  if (!same) view.settled = {};
  if (snapshot.decodings) view.settled = shown;
  if (!view.settled.snapshot) draw_quiet_note("…", ImGui::GetContentRegionAvail(), look);
  return view.settled;
}

void quiet_words(const std::string& words, std::string_view help, const Look& look) {
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopStyleColor();
  help_tooltip(help, look);
}

void draw_hypothesis(const Shown& shown, DecodingView& view, TextureStore& textures, const Look& look) {
  const HypothesisLook& hypothesis = shown.snapshot->decodings->hypothesis;
  draw_choosers(hypothesis.maps, view, look);
  draw_buttons(hypothesis, view, look);
  const std::string text = one_line(hypothesis.text);
  ImGui::TextUnformatted(text.c_str());
  help_tooltip(fmt::format("{}\nThe output that is looked at; the map shows where each of its steps looked (paper "
                           "§3.2.3).",
                           text),
               look);
  draw_map(shown, view, textures, look);
}

}  // namespace attnscope
