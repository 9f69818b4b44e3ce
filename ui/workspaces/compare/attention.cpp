#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "analysis/matrix_algebra.h"
#include "base/input.h"
#include "base/translation.h"
#include "config/heads.h"
#include "widgets/words.h"
#include "workspaces/attention/text.h"
#include "workspaces/attention/view.h"
#include "workspaces/compare/view.h"

namespace attnscope {
namespace {

// Updates the data derived from the two snapshots.
void settle(BothAttentionView& made, const Snapshot& a, const Snapshot& b, BothVersions versions,
            const HeadPlace& place) {
  if (made.heads_of != versions) {
    made.heads_of = versions;
    made.heads = heads_apart(a, b);
    made.differences.clear();
    made.largest = 0.01F;
    for (const HeadApart& head : made.heads) {
      made.differences.push_back(compare_maps(a, b, head.place).difference);
      made.largest = std::max(made.largest, largest_size(made.differences.back().values));
    }
  }
  if (made.maps_of == versions && made.place == place && made.stamp > 0) return;
  made.maps_of = versions;
  made.place = place;
  made.maps = compare_maps(a, b, place);
  ++made.stamp;
}

// One of the three maps: A's or B's own, or the difference where both are visible.
struct Panel {
  const char* side;
  std::string name;
  Color32 color;
  const Matrix* matrix;  // null: none
  const std::vector<Token>& queries;
  const std::vector<Token>& keys;
  std::string why_not;
  bool is_signed;
};

void tell_cell(const Panel& panel, const ComparedMaps& maps, int row, int col) {
  const auto token = [](const std::vector<Token>& tokens, int index) {
    return std::string(without_mark(tokens[static_cast<std::size_t>(index)].text));
  };
  plain_text(fmt::format("{} → {}", token(panel.queries, row), token(panel.keys, col)));
  ImGui::Text(panel.is_signed ? "%s %+.6f" : "%s %.6f", panel.side, static_cast<double>(panel.matrix->at(row, col)));
  if (panel.is_signed)
    ImGui::TextDisabled("A %.6f, B %.6f", static_cast<double>(maps.a.at(row, col)),
                        static_cast<double>(maps.b.at(row, col)));
}

void point_at(const HeatmapResult& pointed, AttentionView& view) {
  if (pointed.row < 0) return;
  view.pointed_row = pointed.row;
  view.pointed_col = pointed.col;
  if (!pointed.clicked) return;
  toggle_row(view, pointed.row);
  toggle_col(view, pointed.col);
}

// Draws the map below its name.
void draw_panel(const Panel& panel, ImVec2 size, BothAttentionView& made, AttentionView& view,
                const BothContext& context) {
  const Skin& skin = context.skin;
  ImGui::BeginChild(panel.side, size, false, view_flags() | ImGuiWindowFlags_NoScrollWithMouse);
  draw_side_name(panel.side, panel.name, panel.color, skin);
  if (!panel.matrix || panel.matrix->empty()) {
    draw_quiet_note(tr_filled(panel.why_not).c_str(), ImGui::GetContentRegionAvail(), skin);
    return ImGui::EndChild();
  }
  const std::vector<std::string> rows = texts_of(panel.queries), cols = texts_of(panel.keys);
  const PartText& text = text_of(made.place.part, context.a.newest.snapshot->model);
  HeatmapOptions options;
  options.row_axis = tr(text.row_axis);
  options.col_axis = tr(text.col_axis);
  options.row_labels = rows;
  options.col_labels = cols;
  options.stretch = 3;
  options.mask_upper = made.place.part == AttentionPart::decoder;
  options.zoom = &made.zoom;
  options.selected_row = std::min(view.pinned_row.value_or(-1), panel.matrix->rows - 1);
  options.selected_col = std::min(view.pinned_col.value_or(-1), panel.matrix->cols - 1);
  if (panel.is_signed) {
    options.map = skin.theme.diverging;
    options.high = std::max(0.01F, largest_size(panel.matrix->values));
    options.low = -options.high;
  }
  options.tooltip = [&](int row, int col) { tell_cell(panel, made.maps, row, col); };
  point_at(draw_heatmap("map", *panel.matrix, made.stamp, ImVec2(0, 0), options, context.textures, skin), view);
  ImGui::EndChild();
}

void draw_head(std::size_t index, ImVec2 size, BothAttentionView& made, AttentionView& view,
               const BothContext& context) {
  const HeadApart& head = made.heads[index];
  const Skin& skin = context.skin;
  const Matrix& difference = made.differences[index];
  ImGui::BeginGroup();
  ThumbnailOptions options;
  options.map = skin.theme.diverging;
  options.high = made.largest;
  options.low = -made.largest;
  options.selected = head.place == made.place;
  const std::string id = head_name(head.place, context.a.newest.snapshot->model);
  const std::uint64_t version = made.heads_of.a * 1'000'003 + made.heads_of.b;
  bool chosen = false;
  if (difference.empty()) {
    chosen = ImGui::InvisibleButton(id.c_str(), size);
  } else {
    chosen = draw_thumbnail(id.c_str(), difference, version, size, options, context.textures, skin);
  }
  if (chosen) select(view, head.place);
  help_tooltip(
      fmt::format(
          "{}, A − B. {}", id,
          head.apart
              ? trf("Difference {:.3f}: the average share of its weight that a query gives to different keys. The same "
                    "head number need not have the same role: with another initialization, heads swap roles.",
                    *head.apart)
              : tr("This head cannot be compared.")),
      skin);
  draw_label(skin.fonts.small, skin.theme.text_dim,
             head.apart ? fmt::format("{}  {:.2f}", id, *head.apart) : id + "  –", skin);
  ImGui::EndGroup();
}

// Draws every head's difference as thumbnails that can be selected.
void draw_heads(ImVec2 room, BothAttentionView& made, AttentionView& view, const BothContext& context) {
  const Skin& skin = context.skin;
  ImGui::BeginChild("heads of both", room, false, view_flags());
  draw_label(skin.fonts.bold, skin.theme.text, tr("All heads, A − B"), skin);
  ImGui::SameLine(0, skin.px(8));
  draw_label(skin.fonts.small, skin.theme.text_dim, tr("difference, 0 to 1"), skin);
  ImGui::Indent(skin.px(3));  // room for the frame of the selected one
  const float width = ImGui::GetContentRegionAvail().x, gap = skin.px(8);
  const float least = skin.px(110);  // room for a name and its value
  const int columns = std::max(1, static_cast<int>((width + gap) / (least + gap)));
  const float side = std::min(least, (width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns));
  for (std::size_t i = 0; i < made.heads.size(); ++i) {
    if (static_cast<int>(i) % columns != 0) ImGui::SameLine(0, gap);
    draw_head(i, {side, side * 0.72F}, made, view, context);
  }
  ImGui::Unindent(skin.px(3));
  ImGui::EndChild();
}

void draw_caption(const BothAttentionView& made, const BothContext& context) {
  const Skin& skin = context.skin;
  draw_label(skin.fonts.bold, skin.theme.text, title_of(made.place, context.a.newest.snapshot->model), skin);
  if (!made.maps.why_not.empty()) return;
  ImGui::SameLine(0, skin.px(10));
  std::string words = trf("distance {:.3f}", made.maps.apart);
  if (made.maps.left_out > 0)
    words += trf(" over the first {} of {} rows, up to the first divergence", made.maps.difference.rows,
                 made.maps.difference.rows + made.maps.left_out);
  draw_label(skin.fonts.ui, skin.theme.text_dim, words, skin);
}

// Selects a part that both have, if the selected one is not.
void settle_part(AttentionView& view, const Snapshot& a, const Snapshot& b) {
  if (has_part(a.model, view.part) && has_part(b.model, view.part)) return;
  for (const AttentionPart part : attention_parts)
    if (has_part(a.model, part) && has_part(b.model, part)) view.part = part;
}

}  // namespace

void draw_both_attention(BothContext& context) {
  const Skin& skin = context.skin;
  AttentionView& view = context.views.of<AttentionView>();
  BothAttentionView& made = context.views.of<BothAttentionView>();
  const ImVec2 all = ImGui::GetContentRegionAvail();
  if (!context.a.newest.snapshot || !context.b.newest.snapshot)
    return draw_quiet_note(tr("Running the sentence through both models…"), all, skin);
  begin(view, *context.a.newest.snapshot);
  settle_part(view, *context.a.newest.snapshot, *context.b.newest.snapshot);
  const Shown& a = context.a.of(view.part);
  const Shown& b = context.b.of(view.part);
  if (!a.snapshot || !b.snapshot) return draw_quiet_note(tr("Both models are still decoding…"), all, skin);
  const HeadPlace place = selection_in(view, *a.snapshot).place;
  settle(made, *a.snapshot, *b.snapshot, versions_of(a, b), place);
  draw_caption(made, context);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = skin.px(10);
  const ImVec2 size{std::floor((room.x - gap) / 2), std::floor((room.y - gap) / 2)};
  view.pointed_row = view.pointed_col = -1;
  const auto draw_side = [&](const char* side, const std::string& name, Color32 color, const Snapshot& inspection) {
    draw_panel({side, name, color, map_at(inspection, place), row_tokens(inspection, place.part),
                col_tokens(inspection, place.part), why_no_map(inspection, side, place), false},
               size, made, view, context);
  };
  draw_side("A", context.name_a, color_of_a(skin), *a.snapshot);
  ImGui::SameLine(0, gap);
  draw_side("B", context.name_b, color_of_b(skin), *b.snapshot);
  const std::string why = made.maps.why_not.empty() ? tr("The outputs diverge at the first token, so no row has the "
                                                         "same input in both models. Try another sentence.")
                                                    : made.maps.why_not;
  draw_panel({"A \u2212 B", "", skin.theme.text, &made.maps.difference, made.maps.queries, made.maps.keys, why, true},
             size, made, view, context);
  ImGui::SameLine(0, gap);
  draw_heads(size, made, view, context);
}

std::optional<WorkspaceNumbers> both_attention_numbers(const Views& views) {
  const BothAttentionView& made = views.of<BothAttentionView>();
  if (made.maps.difference.empty()) return std::nullopt;
  return WorkspaceNumbers{
      made.maps.difference, texts_of(made.maps.queries), texts_of(made.maps.keys),
      trf("{} {} A minus B", tr(part_name(made.place.part)), layer_and_head(made.place.layer, made.place.head))};
}

}  // namespace attnscope
