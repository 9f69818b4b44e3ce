#include "workspaces/decoding/choosers.h"

#include <fmt/format.h>

#include <algorithm>

#include "widgets/tooltip.h"

namespace attnscope {
namespace {

float layer_width(const Skin& skin) {
  return skin.px(84);
}

float head_width(const Skin& skin) {
  return skin.px(136);
}

float gap_between(const Skin& skin) {
  return skin.px(4);
}

bool means(const std::vector<Matrix>& heads, const DecodingView& view) {
  return view.head < 0 || view.head >= static_cast<int>(heads.size());
}

void draw_layer_chooser(const AttentionMaps& maps, DecodingView& view, const Skin& skin) {
  const int layer = shown_layer(maps, view);
  ImGui::SetNextItemWidth(layer_width(skin));
  if (ImGui::BeginCombo("##layer", fmt::format("layer {}", layer + 1).c_str())) {
    for (int i = 0; i < static_cast<int>(maps.size()); ++i) {
      if (ImGui::Selectable(fmt::format("layer {}", i + 1).c_str(), i == layer)) view.layer = i;
    }
    ImGui::EndCombo();
  }
  help_tooltip("Whose attention is shown: the decoder's layer (paper §3.1).", skin);
}

void draw_head_chooser(const std::vector<Matrix>& heads, DecodingView& view, const Skin& skin) {
  const bool mean = means(heads, view);
  ImGui::SetNextItemWidth(head_width(skin));
  if (ImGui::BeginCombo("##head", mean ? "mean of heads" : fmt::format("head {}", view.head + 1).c_str())) {
    if (ImGui::Selectable("mean of heads", mean)) view.head = -1;
    for (int i = 0; i < static_cast<int>(heads.size()); ++i) {
      if (ImGui::Selectable(fmt::format("head {}", i + 1).c_str(), i == view.head)) view.head = i;
    }
    ImGui::EndCombo();
  }
  help_tooltip("One head of that layer, or the mean of all its heads (paper §3.2.2).", skin);
}

}  // namespace

int shown_layer(const AttentionMaps& maps, const DecodingView& view) {
  const auto last = static_cast<int>(maps.size()) - 1;
  return view.layer < 0 ? last : std::min(view.layer, last);
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

std::uint64_t shown_map_version(const Shown& shown, const AttentionMaps& maps, const DecodingView& view) {
  constexpr std::uint64_t most = 1024;  // layers and heads
  const auto layer = static_cast<std::uint64_t>(shown_layer(maps, view));
  return (shown.version * most + layer) * most + static_cast<std::uint64_t>(std::max(-1, view.head) + 1);
}

bool has_choice(const AttentionMaps& maps) {
  return !maps.empty() && maps.size() * maps.front().size() > 1;
}

float choosers_width(const Skin& skin) {
  return layer_width(skin) + gap_between(skin) + head_width(skin);
}

void draw_choosers(const AttentionMaps& maps, DecodingView& view, const Skin& skin) {
  draw_layer_chooser(maps, view, skin);
  ImGui::SameLine(0, gap_between(skin));
  draw_head_chooser(maps[static_cast<std::size_t>(shown_layer(maps, view))], view, skin);
}

}  // namespace attnscope
