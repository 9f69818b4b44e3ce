// State of the difference views, and their drawing functions.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model_comparison.h"
#include "widgets/heatmap.h"
#include "workspaces/compare/compare.h"

namespace attnscope {

// The versions of the snapshots that cached data was computed from.
struct BothVersions {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  bool operator==(const BothVersions&) const = default;
};
BothVersions versions_of(const Shown& a, const Shown& b);

struct BothAttentionView {
  BothVersions heads_of;
  std::vector<HeadApart> heads;
  std::vector<Matrix> differences;  // one per head, for its thumbnail; empty if not available
  float largest = 0;                // maximum absolute value over all of them
  BothVersions maps_of;
  HeadPlace place;
  ComparedMaps maps;
  std::uint64_t stamp = 0;  // changes whenever the maps may have changed
  HeatmapZoom zoom;         // shared by the three maps
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

// The neighbors are few and compared again in every frame.

void draw_both_attention(BothContext& context);
void draw_both_decoding(BothContext& context);
void draw_both_positions(BothContext& context);
void draw_both_embeddings(BothContext& context);
std::optional<WorkspaceNumbers> both_attention_numbers(const Views& views);
std::optional<WorkspaceNumbers> both_decoding_numbers(const Views& views);
std::optional<WorkspaceNumbers> both_positions_numbers(const Views& views);

// "A  rope", in A's color.
void draw_side_name(const char* side, const std::string& name, Color32 color, const Skin& skin);
Color32 color_of_a(const Skin& skin);
Color32 color_of_b(const Skin& skin);

}  // namespace attnscope
