#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/attention_measures.h"
#include "analysis/matrix_algebra.h"
#include "base/input.h"
#include "base/translation.h"
#include "config/heads.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/compare/view.h"

namespace attnscope {
namespace {

void draw_table(const char* side, const std::string& name, Color32 color, const Matrix& matrix, float high,
                bool is_signed, ImVec2 size, const ComparedPositions& table, const BothContext& context,
                std::uint64_t stamp) {
  ImGui::BeginChild(side, size, false, view_flags());
  draw_side_name(side, name, color, context.skin);
  HeatmapOptions options;
  options.map = context.skin.theme.diverging;
  options.high = std::max(1e-6F, high);
  options.low = -options.high;
  options.row_axis = table.first < 0 ? tr("distance") : tr("position");
  options.col_axis = tr("dimension");
  options.first_row = table.first;
  options.square = false;
  options.print_values = is_signed;
  draw_heatmap("table", matrix, stamp, ImVec2(0, 0), options, context.textures, context.skin);
  ImGui::EndChild();
}

void draw_tables(const ComparedPositions& table, float height, const BothContext& context, std::uint64_t stamp) {
  const Skin& skin = context.skin;
  const float gap = skin.px(10), width = std::floor((ImGui::GetContentRegionAvail().x - 2 * gap) / 3);
  const float high = std::max(largest_size(table.a.values), largest_size(table.b.values));
  draw_table("A", context.name_a, color_of_a(skin), table.a, high, false, {width, height}, table, context, stamp);
  ImGui::SameLine(0, gap);
  draw_table("B", context.name_b, color_of_b(skin), table.b, high, false, {width, height}, table, context, stamp);
  ImGui::SameLine(0, gap);
  draw_table("A − B", trf("maximum {:.3g}", largest_size(table.difference.values)), skin.theme.text, table.difference,
             largest_size(table.difference.values), true, {width, height}, table, context, stamp);
}

// The mean attention distance of a layer's heads; nullopt if there is no such layer.
std::optional<float> distance_of(const Snapshot& snapshot, AttentionPart part, std::size_t layer) {
  const AttentionMaps& maps = maps_of(snapshot, part);
  if (layer >= maps.size() || maps[layer].empty()) return std::nullopt;
  float sum = 0;
  for (const Matrix& map : maps[layer]) sum += measures_of(map, part == AttentionPart::decoder).distance;
  return sum / static_cast<float>(maps[layer].size());
}

void draw_cell(const std::string& text, Color32 color, const Skin& skin) {
  ImGui::TableNextColumn();
  draw_label(skin.fonts.ui, color, text, skin);
}

void draw_distance(std::optional<float> value, const Skin& skin) {
  draw_cell(value ? fmt::format("{:.2f}", *value) : "–", skin.theme.text, skin);
}

// Attention distances, which are comparable between positional encodings.
void draw_distances(const Snapshot& a, const Snapshot& b, const BothContext& context) {
  const Skin& skin = context.skin;
  draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                     tr("Mean distance between a query and what it attends to, in tokens, averaged over each layer's "
                        "self-attention heads. It can be compared across positional encodings."),
                     skin);
  if (!ImGui::BeginTable("distances", 4, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchSame)) return;
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  draw_cell(tr("layer"), skin.theme.text_dim, skin);
  draw_cell("A  " + context.name_a, color_of_a(skin), skin);
  draw_cell("B  " + context.name_b, color_of_b(skin), skin);
  draw_cell("A \u2212 B", skin.theme.text, skin);
  for (const AttentionPart part : {AttentionPart::encoder, AttentionPart::decoder}) {
    const std::size_t layers = std::max(maps_of(a, part).size(), maps_of(b, part).size());
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const auto of_a = distance_of(a, part, layer), of_b = distance_of(b, part, layer);
      draw_cell(fmt::format("{} L{}", tr(part_name(part)), layer + 1), skin.theme.text_dim, skin);
      draw_distance(of_a, skin);
      draw_distance(of_b, skin);
      draw_distance(of_a && of_b ? std::optional(*of_a - *of_b) : std::nullopt, skin);
    }
  }
  ImGui::EndTable();
}

void draw_choices(BothPositionsView& made, const Skin& skin) {
  if (made.tables.size() < 2) return;
  for (std::size_t i = 0; i < made.tables.size(); ++i)
    if (draw_choice(made.tables[i].name.c_str(), made.table == i, tr("A table of positions that both models have."),
                    skin))
      made.table = i;
  end_choices();
}

}  // namespace

void draw_both_positions(BothContext& context) {
  const Skin& skin = context.skin;
  BothPositionsView& made = context.views.of<BothPositionsView>();
  const Shown& a = context.a.complete;
  const Shown& b = context.b.complete;
  if (!a.snapshot || !b.snapshot)
    return draw_quiet_note(tr("Running the sentence through both models…"), ImGui::GetContentRegionAvail(), skin);
  if (made.made_of != versions_of(a, b)) {
    made.made_of = versions_of(a, b);
    made.tables = compare_positions(*a.snapshot, *b.snapshot);
    ++made.stamp;
  }
  made.table = std::min(made.table, made.tables.size() - 1);
  draw_choices(made, skin);
  const ComparedPositions& table = made.tables[made.table];
  if (table.why_not.empty()) {
    draw_tables(table, ImGui::GetContentRegionAvail().y * 0.6F, context, made.stamp);
  } else {
    draw_wrapped_label(skin.fonts.ui, skin.theme.text, tr_filled(table.why_not), skin);
  }
  ImGui::Dummy({1, skin.px(6)});
  draw_distances(*a.snapshot, *b.snapshot, context);
}

std::optional<WorkspaceNumbers> both_positions_numbers(const Views& views) {
  const BothPositionsView& made = views.of<BothPositionsView>();
  if (made.table >= made.tables.size() || !made.tables[made.table].why_not.empty()) return std::nullopt;
  const ComparedPositions& table = made.tables[made.table];
  WorkspaceNumbers numbers{table.difference, {}, {}, fmt::format("positions {} A minus B", table.name)};
  for (int row = 0; row < table.difference.rows; ++row) numbers.rows.push_back(fmt::to_string(table.first + row));
  for (int col = 0; col < table.difference.cols; ++col) numbers.cols.push_back(fmt::to_string(col));
  return numbers;
}

}  // namespace attnscope
