#include "workspaces/attention/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/input.h"
#include "base/pointed.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/heatmap.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/attention/controls.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

// ---- all heads in model order

// Groups of layers × heads, stacked in columns: as in the paper's figure 1 with the encoder on the left, or all in one
// column, or one column each.
using Arrangement = std::vector<std::vector<AttentionPart>>;

struct Grid {
  ImVec2 cell;  // size of a thumbnail
  Arrangement columns;
};

constexpr float group_gap = 5;     // at scale 1
constexpr float names_width = 24;  // at scale 1
float group_heading(const Skin& skin) {
  return font_size(skin.fonts.ui) + font_size(skin.fonts.mono_small) + skin.px(18);
}

const AttentionMaps& maps_of_part(const ShownMaps& maps, AttentionPart part) {
  return maps_of(*maps.of(part).snapshot, part);
}

// The thumbnail size at which the column's groups fill that space.
ImVec2 column_cell(const ShownMaps& maps, const std::vector<AttentionPart>& column, ImVec2 space, const Skin& skin) {
  std::size_t rows = 0;
  int heads = 1;
  for (const AttentionPart part : column) {
    rows += maps_of_part(maps, part).size();
    heads = std::max(heads, heads_of(maps_of_part(maps, part)));
  }
  const float headings = group_heading(skin) * static_cast<float>(column.size());
  return {(space.x - skin.px(names_width) - skin.px(2)) / static_cast<float>(heads) - skin.px(group_gap),
          (space.y - headings) / static_cast<float>(std::max<std::size_t>(1, rows)) - skin.px(group_gap)};
}

// Maximum aspect ratios of thumbnails: wide, and tall.
struct Stretch {
  float wide = 1;
  float high = 1;
};

ImVec2 fitted(ImVec2 cell, Stretch stretch, float largest, const Skin& skin) {
  // Smaller thumbnails would be unreadable: the window scrolls instead.
  const float height = std::max(cell.y, std::min(cell.x, skin.px(30)));
  const auto side = [&](float length) { return std::floor(clamped(length, skin.px(18), largest)); };
  return {side(std::min(cell.x, height * stretch.wide)), side(std::min(height, cell.x * stretch.high))};
}

Grid grid_of(const ShownMaps& maps, Arrangement columns, ImVec2 space, const Skin& skin) {
  for (std::vector<AttentionPart>& column : columns)
    std::erase_if(column, [&](AttentionPart part) { return maps.lacks(part); });
  std::erase_if(columns, [](const std::vector<AttentionPart>& column) { return column.empty(); });
  const float width = space.x / static_cast<float>(std::max<std::size_t>(1, columns.size()));
  ImVec2 cell = space;
  for (const std::vector<AttentionPart>& column : columns) {
    const ImVec2 own = column_cell(maps, column, {width - skin.px(14), space.y}, skin);
    cell = {std::min(cell.x, own.x), std::min(cell.y, own.y)};
  }
  return {cell, std::move(columns)};
}

// Returns the arrangement with the largest thumbnails.
Grid largest_grid(const ShownMaps& maps, ImVec2 space, const Skin& skin) {
  const auto [encoder, decoder, cross] = attention_parts;
  const std::array<Arrangement, 3> all = {Arrangement{{encoder, decoder, cross}},
                                          Arrangement{{encoder}, {decoder, cross}},
                                          Arrangement{{encoder}, {decoder}, {cross}}};
  Grid best;
  for (const Arrangement& columns : all) {
    Grid grid = grid_of(maps, columns, space, skin);
    grid.cell = fitted(grid.cell, {2.2F, 1.3F}, skin.px(360), skin);
    if (grid.cell.x * grid.cell.y > best.cell.x * best.cell.y) best = std::move(grid);
  }
  return best;
}

void draw_group_heading(const PartText& text, float width, const Skin& skin) {
  const float left = ImGui::GetCursorPosX();
  draw_label(skin.fonts.bold, skin.theme.text, tr(text.name), skin);
  help_tooltip(tr(text.help), skin);
  ImGui::SameLine(0, skin.px(6));
  if (ImGui::GetCursorPosX() - left + text_size(skin.fonts.ui, tr(text.what)).x > width) return ImGui::NewLine();
  draw_label(skin.fonts.ui, skin.theme.text_dim, tr(text.what), skin);
  help_tooltip(tr(text.help), skin);
}

void draw_names(ImVec2 origin, const AttentionMaps& maps, ImVec2 cell, const Skin& skin) {
  Painter paint(skin);
  ImFont* font = skin.fonts.mono_small;
  const ImVec2 pitch{cell.x + skin.px(group_gap), cell.y + skin.px(group_gap)};
  const float top = origin.y + font_size(font) + skin.px(2);
  for (int layer = 0; layer < static_cast<int>(maps.size()); ++layer) {
    const float y = top + static_cast<float>(layer) * pitch.y + (cell.y - font_size(font)) / 2;
    paint.text(font, {origin.x, y}, skin.theme.text_dim, fmt::format("L{}", layer + 1));
  }
  for (int head = 0; head < heads_of(maps); ++head) {
    if (cell.x < skin.px(22) && head % 2 != 0) continue;
    const std::string name = fmt::format("H{}", head + 1);
    const float middle = origin.x + skin.px(names_width) + static_cast<float>(head) * pitch.x + cell.x / 2;
    paint.text(font, {middle - text_size(font, name).x / 2, origin.y}, skin.theme.text_dim, name);
  }
}

// Draws the heads of a group, layers from top to bottom.
void draw_group(const Shown& shown, AttentionPart part, ImVec2 cell, AttentionView& view, TextureStore& textures,
                const Skin& skin) {
  const AttentionMaps& maps = maps_of(*shown.snapshot, part);
  const ImVec2 pitch{cell.x + skin.px(group_gap), cell.y + skin.px(group_gap)};
  const ImVec2 extent{skin.px(names_width) + pitch.x * static_cast<float>(heads_of(maps)),
                      font_size(skin.fonts.mono_small) + skin.px(8) + pitch.y * static_cast<float>(maps.size())};
  draw_group_heading(text_of(part, shown.snapshot->model), extent.x, skin);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  draw_names(origin, maps, cell, skin);
  const float top = font_size(skin.fonts.mono_small) + skin.px(2);
  for (int layer = 0; layer < static_cast<int>(maps.size()); ++layer) {
    for (int head = 0; head < static_cast<int>(maps[static_cast<std::size_t>(layer)].size()); ++head) {
      ImGui::SetCursorScreenPos({origin.x + skin.px(names_width) + static_cast<float>(head) * pitch.x,
                                 origin.y + top + static_cast<float>(layer) * pitch.y});
      draw_head_thumbnail(shown, {part, layer, head}, cell, view, textures, skin);
    }
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(extent);
}

void draw_grid(const ShownMaps& maps, const Grid& grid, AttentionView& view, TextureStore& textures, const Skin& skin) {
  for (const std::vector<AttentionPart>& column : grid.columns) {
    ImGui::BeginGroup();
    for (const AttentionPart part : column) draw_group(maps.of(part), part, grid.cell, view, textures, skin);
    ImGui::EndGroup();
    ImGui::SameLine(0, skin.px(14));
  }
  ImGui::NewLine();
}

// ---- sorted

float entry_height(const Skin& skin) {
  return 2 * font_size(skin.fonts.mono_small) + skin.px(10);
}

struct List {
  float cell = 0;
  int columns = 1;
};

// Thumbnails as large as possible while all are visible; below a minimum size, the list scrolls.
List list_for(std::size_t count, ImVec2 space, const Skin& skin) {
  const float gap = skin.px(12);
  const auto columns_of = [&](float cell) { return std::max(1, static_cast<int>((space.x + gap) / (cell + gap))); };
  float cell = skin.px(220);
  for (; cell > skin.px(72); cell -= 1) {
    const auto columns = static_cast<std::size_t>(columns_of(cell));
    const auto rows = static_cast<float>((count + columns - 1) / columns);
    if (rows * (cell + entry_height(skin)) <= space.y) break;
  }
  return {std::floor(cell), columns_of(cell)};
}

std::string value_text(const RankedHead& head, HeadOrder order) {
  if (!head.value) return "–";
  if (order == HeadOrder::entropy) return trf("{:.2f} nats", *head.value);
  if (order == HeadOrder::distance) return trf("{:.1f} tokens", *head.value);
  return fmt::format("{:.3f}", *head.value);
}

void draw_entry(const ShownMaps& maps, const RankedHead& head, float cell, AttentionView& view, TextureStore& textures,
                const Skin& skin) {
  const ImVec2 low = ImGui::GetCursorScreenPos();
  draw_head_thumbnail(maps.of(head.place.part), head.place, {cell, cell}, view, textures, skin);
  Painter paint(skin);
  ImFont* font = skin.fonts.mono_small;
  const float line = font_size(font);
  const float under = low.y + cell + skin.px(3);
  paint.text(font, {low.x, under}, skin.theme.text_dim, head_name(head.place, maps.newest.snapshot->model));
  paint.text(font, {low.x, under + line}, skin.theme.text, value_text(head, view.order));
}

void draw_ranked(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin) {
  HeadRanking& ranking = view.ranking;
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const List list = list_for(ranking.heads.size(), {space.x - skin.px(4), space.y - skin.px(4)}, skin);
  ranking.columns = list.columns;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const ImVec2 origin{corner.x + skin.px(2), corner.y + skin.px(2)};  // room for the selected one's outline
  const float pitch = list.cell + entry_height(skin);
  for (std::size_t i = 0; i < ranking.heads.size(); ++i) {
    const auto column = static_cast<float>(i % static_cast<std::size_t>(list.columns));
    const auto row = static_cast<float>(i / static_cast<std::size_t>(list.columns));
    ImGui::SetCursorScreenPos({origin.x + column * (list.cell + skin.px(12)), origin.y + row * pitch});
    draw_entry(maps, ranking.heads[i], list.cell, view, textures, skin);
  }
  const std::size_t rows =
      (ranking.heads.size() + static_cast<std::size_t>(list.columns) - 1) / static_cast<std::size_t>(list.columns);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1, static_cast<float>(rows) * pitch});
}

// ---- above the thumbnails

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
  return uniform == 0 ? "" : trf("{} of {} near-uniform", uniform, count);
}

void draw_controls(const ShownMaps& maps, AttentionView& view, const Skin& skin) {
  draw_label(skin.fonts.ui, skin.theme.text_dim, tr("Heads"), skin);
  ImGui::SameLine(0, skin.px(6));
  draw_order_choice(view, maps, skin);
  const std::string uniform = uniform_text(view.measures);
  if (!uniform.empty()) {
    ImGui::SameLine(0, skin.px(14));
    draw_label(skin.fonts.ui, skin.theme.warning, "≈", skin);
    ImGui::SameLine(0, skin.px(4));
    draw_label(skin.fonts.ui, skin.theme.text_dim, uniform, skin);
    help_tooltip(tr("Near-uniform: untrained or idle. Such a head attends almost equally to every key: its rows' mean "
                    "entropy is above 95 % of the maximum, which equal weights on all visible keys would give."),
                 skin);
  }
  end_choices();
}

// ---- one head

// In the lower left corner, where the look-ahead mask hides nothing.
void draw_uniform_mark(ImVec2 low, ImVec2 size, const Skin& skin) {
  Painter paint(skin);
  ImFont* font = skin.fonts.mono_small;
  const ImVec2 sign = text_size(font, "≈");
  const bool room = std::min(size.x, size.y) > 3 * sign.x;
  const ImVec2 extent = room ? ImVec2(sign.x + skin.px(4), sign.y) : ImVec2(skin.px(5), skin.px(5));
  const ImVec2 corner{low.x, low.y + size.y - extent.y};
  paint.filled_rect(corner, {corner.x + extent.x, corner.y + extent.y}, skin.theme.warning);
  if (room) paint.text(font, {corner.x + skin.px(2), corner.y}, text_on(skin.theme.warning), "≈");
}

void tell_measures(const MapMeasures& measures, const Skin& skin) {
  ImGui::Text(tr("mean entropy per row: %.2f of at most %.2f nats"), static_cast<double>(measures.entropy),
              static_cast<double>(measures.most_entropy));
  ImGui::Text(tr("mean distance |query − key|: %.1f tokens"), static_cast<double>(measures.distance));
  if (!near_uniform(measures)) return;
  colored_text(skin.theme.warning, tr("near-uniform: untrained or idle"));
}

// For the run on display; null if it was not measured.
const HeadImportance* importance_of(const Shown& shown, const HeadPlace& place, const AttentionView& view) {
  if (view.importance_of != shown.snapshot->run) return nullptr;
  const auto found = std::ranges::find(view.importance, place, &HeadImportance::place);
  return found == view.importance.end() ? nullptr : &*found;
}

// Along the lower edge; the most important head has the longest bar.
void draw_importance_bar(const HeadImportance& head, const AttentionView& view, ImVec2 low, ImVec2 size,
                         const Skin& skin) {
  const double most = std::ranges::max(view.importance, {}, &HeadImportance::exact).exact;
  if (most <= 0) return;
  const float length = size.x * static_cast<float>(clamped(head.exact / most, 0.0, 1.0));
  const float bottom = low.y + size.y, thick = skin.px(4);
  Painter paint(skin);
  paint.filled_rect({low.x, bottom - thick}, {low.x + size.x, bottom}, faded(skin.theme.background, 0.8F), 0);
  paint.filled_rect({low.x, bottom - thick}, {low.x + length, bottom}, skin.theme.series[1], 0);
}

void draw_tooltip(const Shown& shown, const HeadPlace& place, const AttentionView& view, const Skin& skin) {
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(title_of(place, shown.snapshot->model).c_str());
  if (is_switched_off(*shown.snapshot, place)) colored_text(skin.theme.warning, tr("switched off"));
  if (const MapMeasures* measures = measures_at(view.measures, place); measures && shown.snapshot->model.has_weights())
    tell_measures(*measures, skin);
  if (const HeadImportance* head = importance_of(shown, place, view))
    dim_text(trf("loss without it: {:+.4f} nats per held-out token (the bar)", head->exact), skin);
  ImGui::TextDisabled("%s", tr("click: select   Shift + click: overlay in colors   double-click: open"));
  ImGui::EndTooltip();
}

void take_click(AttentionView& view, const HeadPlace& place) {
  if (modifiers().shift) return toggle_together(view, place);
  if (view.place() != place || !view.together.empty()) select(view, place);
}

}  // namespace

void draw_model(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin) {
  draw_controls(maps, view, skin);
  rank_heads(view, maps);
  ImGui::BeginChild("all heads", ImVec2(0, 0), false, view_flags());
  const ImVec2 space = ImGui::GetContentRegionAvail();
  if (view.order == HeadOrder::place)
    draw_grid(maps, largest_grid(maps, space, skin), view, textures, skin);
  else if (view.order == HeadOrder::attention && !selected_token(view, maps))
    draw_quiet_note(tr("Select a token first: click one at the level “Head”."), space, skin);
  else
    draw_ranked(maps, view, textures, skin);
  ImGui::EndChild();
}

void draw_heads(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin) {
  Grid grid = grid_of(maps, {{attention_parts.begin(), attention_parts.end()}}, ImGui::GetContentRegionAvail(), skin);
  grid.cell = fitted(grid.cell, {}, skin.px(150), skin);
  draw_grid(maps, grid, view, textures, skin);
}

// ---- one head

void draw_head_thumbnail(const Shown& shown, const HeadPlace& place, ImVec2 size, AttentionView& view,
                         TextureStore& textures, const Skin& skin) {
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const Color32 color = color_of(view, place, skin.theme);
  ThumbnailOptions options;
  const ModelConfig& model = shown.snapshot->model;
  options.high = brightest(view, place, !model.has_weights());
  if (model.is_signed()) {
    options.map = skin.theme.diverging;
    options.low = -options.high;
  }
  options.mask_upper = is_causal(model, place.part);
  options.selected = color != 0;
  if (!view.together.empty()) options.frame = color;
  const std::string id = fmt::format("{}.{}.{}", static_cast<int>(place.part), place.layer, place.head);
  if (draw_thumbnail(id.c_str(), *map_at(*shown.snapshot, place), shown.version, size, options, textures, skin))
    take_click(view, place);
  if (ImGui::IsItemHovered()) {
    draw_tooltip(shown, place, view, skin);
    point_at({.thing = HoverTarget::head, .name = title_of(place, shown.snapshot->model), .about = "attention head"});
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Right)) select(view, place);
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
      select(view, place);
      view.level = AttentionLevel::head;
    }
  }
  if (is_switched_off(*shown.snapshot, place)) {
    Painter paint(skin);
    draw_hatching(paint, low, {low.x + size.x, low.y + size.y}, skin.theme.warning, skin.px(6));
  }
  if (const HeadImportance* head = importance_of(shown, place, view)) draw_importance_bar(*head, view, low, size, skin);
  const MapMeasures* measures = measures_at(view.measures, place);
  if (measures && near_uniform(*measures)) draw_uniform_mark(low, size, skin);
}

}  // namespace attnscope
