#include "workspaces/attention/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "widgets/choice_row.h"
#include "widgets/heatmap.h"
#include "widgets/label.h"
#include "widgets/painter.h"
#include "widgets/tooltip.h"
#include "workspaces/attention/order.h"
#include "workspaces/attention/text.h"
#include "workspaces/attention/thumbnail.h"

namespace attnscope {
namespace {

constexpr std::array parts = {AttentionPart::encoder, AttentionPart::decoder, AttentionPart::cross};

// ---- every head in its place

// Groups of layers × heads beneath each other, in columns side by side: as in the paper's figure 1, the encoder on the
// left, or all in one column, or a column each.
using Arrangement = std::vector<std::vector<AttentionPart>>;

struct Grid {
  ImVec2 cell;  // a thumbnail's size
  Arrangement columns;
};

float group_gap(const Look& look) {
  return look.px(5);
}

float names_width(const Look& look) {
  return look.px(24);
}

float group_heading(const Look& look) {
  return font_size(look.fonts.ui) + font_size(look.fonts.mono_small) + look.px(18);
}

const AttentionMaps& maps_of_part(const ShownMaps& maps, AttentionPart part) {
  return maps_of(*maps.of(part).snapshot, part);
}

// The size of a thumbnail with which the column's groups fill that space.
ImVec2 column_cell(const ShownMaps& maps, const std::vector<AttentionPart>& column, ImVec2 space, const Look& look) {
  std::size_t rows = 0;
  int heads = 1;
  for (const AttentionPart part : column) {
    rows += maps_of_part(maps, part).size();
    heads = std::max(heads, heads_of(maps_of_part(maps, part)));
  }
  const float headings = group_heading(look) * static_cast<float>(column.size());
  return {(space.x - names_width(look) - look.px(2)) / static_cast<float>(heads) - group_gap(look),
          (space.y - headings) / static_cast<float>(std::max<std::size_t>(1, rows)) - group_gap(look)};
}

// Thumbnails may be so many times wider than high, and higher than wide.
struct Stretch {
  float wide = 1;
  float high = 1;
};

ImVec2 fitted(ImVec2 cell, Stretch stretch, float largest, const Look& look) {
  // Below this nothing can be told apart: the window scrolls instead.
  const float height = std::max(cell.y, std::min(cell.x, look.px(30)));
  const auto side = [&](float length) { return std::floor(std::clamp(length, look.px(18), largest)); };
  return {side(std::min(cell.x, height * stretch.wide)), side(std::min(height, cell.x * stretch.high))};
}

Grid grid_of(const ShownMaps& maps, Arrangement columns, ImVec2 space, const Look& look) {
  for (std::vector<AttentionPart>& column : columns)
    std::erase_if(column, [&](AttentionPart part) { return maps.lacks(part); });
  std::erase_if(columns, [](const std::vector<AttentionPart>& column) { return column.empty(); });
  const float width = space.x / static_cast<float>(std::max<std::size_t>(1, columns.size()));
  ImVec2 cell = space;
  for (const std::vector<AttentionPart>& column : columns) {
    const ImVec2 own = column_cell(maps, column, {width - look.px(14), space.y}, look);
    cell = {std::min(cell.x, own.x), std::min(cell.y, own.y)};
  }
  return {cell, std::move(columns)};
}

// The arrangement with the largest thumbnails.
Grid largest_grid(const ShownMaps& maps, ImVec2 space, const Look& look) {
  const auto [encoder, decoder, cross] = parts;
  const std::array<Arrangement, 3> all = {Arrangement{{encoder, decoder, cross}},
                                          Arrangement{{encoder}, {decoder, cross}},
                                          Arrangement{{encoder}, {decoder}, {cross}}};
  Grid best;
  for (const Arrangement& columns : all) {
    Grid grid = grid_of(maps, columns, space, look);
    grid.cell = fitted(grid.cell, {2.2F, 1.3F}, look.px(360), look);
    if (grid.cell.x * grid.cell.y > best.cell.x * best.cell.y) best = std::move(grid);
  }
  return best;
}

void draw_group_heading(const PartText& text, float width, const Look& look) {
  const float left = ImGui::GetCursorPosX();
  draw_label(look.fonts.bold, look.theme.text, text.name, look);
  help_tooltip(text.help, look);
  ImGui::SameLine(0, look.px(6));
  if (ImGui::GetCursorPosX() - left + text_size(look.fonts.ui, text.what).x > width) return ImGui::NewLine();
  draw_label(look.fonts.ui, look.theme.text_dim, text.what, look);
  help_tooltip(text.help, look);
}

void draw_names(ImVec2 origin, const AttentionMaps& maps, ImVec2 cell, const Look& look) {
  Painter paint(look);
  ImFont* font = look.fonts.mono_small;
  const ImVec2 pitch{cell.x + group_gap(look), cell.y + group_gap(look)};
  const float top = origin.y + font_size(font) + look.px(2);
  for (int layer = 0; layer < static_cast<int>(maps.size()); ++layer) {
    const float y = top + static_cast<float>(layer) * pitch.y + (cell.y - font_size(font)) / 2;
    paint.text(font, {origin.x, y}, look.theme.text_dim, fmt::format("L{}", layer + 1));
  }
  for (int head = 0; head < heads_of(maps); ++head) {
    if (cell.x < look.px(22) && head % 2 != 0) continue;
    const std::string name = fmt::format("H{}", head + 1);
    const float middle = origin.x + names_width(look) + static_cast<float>(head) * pitch.x + cell.x / 2;
    paint.text(font, {middle - text_size(font, name.c_str()).x / 2, origin.y}, look.theme.text_dim, name);
  }
}

// A group's heads, layers from top to bottom.
void draw_group(const Shown& shown, AttentionPart part, ImVec2 cell, AttentionView& view, TextureStore& textures,
                const Look& look) {
  const AttentionMaps& maps = maps_of(*shown.snapshot, part);
  const ImVec2 pitch{cell.x + group_gap(look), cell.y + group_gap(look)};
  const ImVec2 extent{names_width(look) + pitch.x * static_cast<float>(heads_of(maps)),
                      font_size(look.fonts.mono_small) + look.px(8) + pitch.y * static_cast<float>(maps.size())};
  draw_group_heading(text_of(part, shown.snapshot->model), extent.x, look);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  draw_names(origin, maps, cell, look);
  const float top = font_size(look.fonts.mono_small) + look.px(2);
  for (int layer = 0; layer < static_cast<int>(maps.size()); ++layer) {
    for (int head = 0; head < static_cast<int>(maps[static_cast<std::size_t>(layer)].size()); ++head) {
      ImGui::SetCursorScreenPos({origin.x + names_width(look) + static_cast<float>(head) * pitch.x,
                                 origin.y + top + static_cast<float>(layer) * pitch.y});
      draw_head_thumbnail(shown, {part, layer, head}, cell, view, textures, look);
    }
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(extent);
}

void draw_grid(const ShownMaps& maps, const Grid& grid, AttentionView& view, TextureStore& textures, const Look& look) {
  for (const std::vector<AttentionPart>& column : grid.columns) {
    ImGui::BeginGroup();
    for (const AttentionPart part : column) draw_group(maps.of(part), part, grid.cell, view, textures, look);
    ImGui::EndGroup();
    ImGui::SameLine(0, look.px(14));
  }
  ImGui::NewLine();
}

// ---- in an order

float entry_height(const Look& look) {
  return 2 * font_size(look.fonts.mono_small) + look.px(10);
}

struct List {
  float cell = 0;
  int columns = 1;
};

// Thumbnails as large as they can be while all are seen; smaller than that, the list scrolls.
List list_for(std::size_t count, ImVec2 space, const Look& look) {
  const float gap = look.px(12);
  const auto columns_of = [&](float cell) { return std::max(1, static_cast<int>((space.x + gap) / (cell + gap))); };
  float cell = look.px(220);
  for (; cell > look.px(72); cell -= 1) {
    const auto columns = static_cast<std::size_t>(columns_of(cell));
    const auto rows = static_cast<float>((count + columns - 1) / columns);
    if (rows * (cell + entry_height(look)) <= space.y) break;
  }
  return {std::floor(cell), columns_of(cell)};
}

std::string value_text(const RankedHead& head, HeadOrder order) {
  if (!head.value) return "–";
  switch (order) {
    case HeadOrder::entropy:
      return fmt::format("{:.2f} nats", *head.value);
    case HeadOrder::distance:
      return fmt::format("{:.1f} pieces", *head.value);
    case HeadOrder::attention:
    case HeadOrder::place:
      break;
  }
  return fmt::format("{:.3f}", *head.value);
}

void draw_entry(const ShownMaps& maps, const RankedHead& head, float cell, AttentionView& view, TextureStore& textures,
                const Look& look) {
  const ImVec2 low = ImGui::GetCursorScreenPos();
  draw_head_thumbnail(maps.of(head.place.part), head.place, {cell, cell}, view, textures, look);
  Painter paint(look);
  ImFont* font = look.fonts.mono_small;
  const float line = font_size(font);
  const float under = low.y + cell + look.px(3);
  paint.text(font, {low.x, under}, look.theme.text_dim, short_title_of(head.place));
  paint.text(font, {low.x, under + line}, look.theme.text, value_text(head, view.order));
}

void draw_ranked(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Look& look) {
  HeadRanking& ranking = view.ranking;
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const List list = list_for(ranking.heads.size(), {space.x - look.px(4), space.y - look.px(4)}, look);
  ranking.columns = list.columns;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const ImVec2 origin{corner.x + look.px(2), corner.y + look.px(2)};  // for the frame of the selected one
  const float pitch = list.cell + entry_height(look);
  for (std::size_t i = 0; i < ranking.heads.size(); ++i) {
    const auto column = static_cast<float>(i % static_cast<std::size_t>(list.columns));
    const auto row = static_cast<float>(i / static_cast<std::size_t>(list.columns));
    ImGui::SetCursorScreenPos({origin.x + column * (list.cell + look.px(12)), origin.y + row * pitch});
    draw_entry(maps, ranking.heads[i], list.cell, view, textures, look);
  }
  const std::size_t rows =
      (ranking.heads.size() + static_cast<std::size_t>(list.columns) - 1) / static_cast<std::size_t>(list.columns);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1, static_cast<float>(rows) * pitch});
}

// ---- above them

std::string uniform_text(const HeadMeasures& all) {
  int uniform = 0;
  int count = 0;
  for (const auto& layers : all.parts) {
    for (const std::vector<MeasuredHead>& heads : layers) {
      for (const MeasuredHead& head : heads) {
        ++count;
        if (near_uniform(head.measures)) ++uniform;
      }
    }
  }
  return uniform == 0 ? "" : fmt::format("{} of {} near-uniform", uniform, count);
}

void draw_controls(const ShownMaps& maps, AttentionView& view, const Look& look) {
  draw_label(look.fonts.ui, look.theme.text_dim, "Heads", look);
  ImGui::SameLine(0, look.px(6));
  draw_order_choice(view, maps, look);
  const std::string uniform = uniform_text(view.measures);
  if (!uniform.empty()) {
    ImGui::SameLine(0, look.px(14));
    draw_label(look.fonts.ui, look.theme.warning, "≈", look);
    ImGui::SameLine(0, look.px(4));
    draw_label(look.fonts.ui, look.theme.text_dim, uniform, look);
    help_tooltip(
        "Near-uniform: untrained or idle. Such a head looks almost everywhere alike: the mean entropy of its rows is "
        "above 95 % of what it would be if every query looked at all the keys it sees alike.",
        look);
  }
  end_choices();
}

}  // namespace

void draw_model(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Look& look) {
  draw_controls(maps, view, look);
  rank_heads(view, maps);
  ImGui::BeginChild("all heads", ImVec2(0, 0), false, ImGuiWindowFlags_NoNavInputs);
  const ImVec2 space = ImGui::GetContentRegionAvail();
  if (view.order == HeadOrder::place)
    draw_grid(maps, largest_grid(maps, space, look), view, textures, look);
  else if (view.order == HeadOrder::attention && !selected_token(view, maps))
    draw_quiet_note("Select a piece first: click one at the level “Head”.", space, look);
  else
    draw_ranked(maps, view, textures, look);
  ImGui::EndChild();
}

void draw_heads(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Look& look) {
  Grid grid = grid_of(maps, {{parts.begin(), parts.end()}}, ImGui::GetContentRegionAvail(), look);
  grid.cell = fitted(grid.cell, {}, look.px(150), look);
  draw_grid(maps, grid, view, textures, look);
}

}  // namespace attnscope
