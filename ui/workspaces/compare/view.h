// What the views of two models remember, and what each draws.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model_comparison.h"
#include "widgets/heatmap.h"
#include "workspaces/compare/compare.h"

namespace attnscope {

// Which looks something was made from.
struct BothVersions {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  bool operator==(const BothVersions&) const = default;
};
BothVersions versions_of(const Shown& a, const Shown& b);

struct BothAttentionView {
  BothVersions heads_of;
  std::vector<HeadApart> heads;
  std::vector<Matrix> differences;  // of each, for its thumbnail; empty where there is none
  float largest = 0;                // of all of them, without sign
  BothVersions maps_of;
  HeadPlace place;
  ComparedMaps maps;
  std::uint64_t stamp = 0;  // changes whenever the maps may have
  HeatmapZoom zoom;         // of the three maps together
};

struct BothDecodingView {
  BothVersions made_of;
  ComparedOutputs outputs;
};

struct BothPositionsView {
  BothVersions made_of;
  std::vector<ComparedPositions> tables;
  std::size_t table = 0;
  std::uint64_t stamp = 0;
};

// The neighbours are few: they are compared anew every frame.

void draw_both_attention(BothContext& context);
void draw_both_decoding(BothContext& context);
void draw_both_positions(BothContext& context);
void draw_both_embeddings(BothContext& context);
std::optional<WorkspaceNumbers> both_attention_numbers(const Views& views);
std::optional<WorkspaceNumbers> both_decoding_numbers(const Views& views);
std::optional<WorkspaceNumbers> both_positions_numbers(const Views& views);

// "A  rope", in A's colour.
void draw_side_name(const char* side, const std::string& name, Color32 color, const Skin& skin);
Color32 color_of_a(const Skin& skin);
Color32 color_of_b(const Skin& skin);

}  // namespace attnscope
