#include "workspaces/attention/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/matrix_algebra.h"
#include "base/input.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/bipartite.h"
#include "widgets/heatmap.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/attention/controls.h"
#include "workspaces/attention/row.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

// The state of drawing the level. Rows and columns are those of view.map: tokens or words.
struct Canvas {
  const Shown& shown;
  AttentionView& view;
  TextureStore& textures;
  const Skin& skin;

  const HeadMap& map() const { return view.map; }
  int selected_row() const { return view.pinned_row ? place_of(*view.pinned_row, map().rows) : -1; }
  int selected_col() const { return view.pinned_col ? place_of(*view.pinned_col, map().cols) : -1; }
  // The query whose weights are listed and outlined while none is hovered.
  int listed_row() const {
    const int first = first_row(*shown.snapshot, view.part);
    return view.pinned_row ? selected_row() : first < 0 ? -1 : place_of(first, map().rows);
  }
};

// ---- layout

struct Pane {
  ImVec2 low;  // relative to the room
  ImVec2 size;
  bool shown() const { return size.x > 0 && size.y > 0; }
};

struct Panes {
  Pane matrix;
  Pane lines;
  Pane list;  // one query's weights
};

// One picture with the list next to it, or below it if the room is taller than wide; in a narrow room without the list.
Panes one_picture(ImVec2 room, float picture_height, Pane Panes::*picture, const Skin& skin) {
  const float gap = skin.px(8);
  Panes panes;
  if (room.x > room.y * 1.15F) {
    const float list = clamped(room.x * 0.3F, skin.px(170), skin.px(300));
    if (room.x - list - gap < skin.px(220)) {
      panes.*picture = {{0, 0}, room};
      return panes;
    }
    panes.*picture = {{0, 0}, {room.x - list - gap, room.y}};
    panes.list = {{room.x - list, 0}, {list, room.y}};
  } else {
    const float height = std::min(picture_height, room.y - std::max(room.y * 0.26F, skin.px(90)));
    panes.*picture = {{0, 0}, {room.x, height}};
    panes.list = {{0, height + gap}, {room.x, room.y - height - gap}};
  }
  return panes;
}

// Matrix and lines side by side, and the list next to or below the lines.
Panes beside(ImVec2 room, const Skin& skin) {
  const float gap = skin.px(10);
  const float half = std::floor(room.x * 0.55F);
  const float rest = room.x - half - gap;
  Panes panes;
  panes.matrix = {{0, 0}, {half, room.y}};
  if (rest > skin.px(520)) {
    const float list = skin.px(210);
    panes.lines = {{half + gap, 0}, {rest - list - gap, room.y}};
    panes.list = {{room.x - list, 0}, {list, room.y}};
  } else {
    const float lines = std::floor(room.y * 0.62F);
    panes.lines = {{half + gap, 0}, {rest, lines}};
    panes.list = {{half + gap, lines + gap}, {rest, room.y - lines - gap}};
  }
  return panes;
}

// The matrix above lines and list.
Panes beneath(ImVec2 room, float matrix_height, const Skin& skin) {
  const float gap = skin.px(10);
  const float above = std::min(matrix_height, std::floor(room.y * 0.58F));
  const float list = std::max(skin.px(170), std::floor(room.x * 0.36F));
  const ImVec2 rest{room.x, room.y - above - gap};
  Panes panes;
  panes.matrix = {{0, 0}, {room.x, above}};
  panes.lines = {{0, above + gap}, {rest.x - list - gap, rest.y}};
  panes.list = {{rest.x - list, above + gap}, {list, rest.y}};
  return panes;
}

Panes arrange(HeadPicture picture, ImVec2 room, float matrix_height, float lines_height, const Skin& skin) {
  if (picture == HeadPicture::lines) return one_picture(room, lines_height, &Panes::lines, skin);
  if (picture == HeadPicture::both && room.x >= skin.px(760)) return beside(room, skin);
  if (picture == HeadPicture::both && room.x >= skin.px(430) && room.y >= skin.px(560))
    return beneath(room, matrix_height, skin);
  return one_picture(room, matrix_height, &Panes::matrix, skin);
}

// ---- the matrix

void tell_cell(const Canvas& canvas, int row, int col) {
  const HeadMap& map = canvas.map();
  mono_text(fmt::format("{} → {}", map.row_labels[static_cast<std::size_t>(row)],
                        map.col_labels[static_cast<std::size_t>(col)]),
            canvas.skin);
  if (map.causal && col > row) return ImGui::TextDisabled("%s", tr("masked: look-ahead mask (§3.2.3)"));
  const auto value = static_cast<double>(map.map.at(row, col));
  if (std::isinf(value)) return ImGui::TextDisabled("−∞ (%s)", tr("masked"));
  if (!map.is_difference()) return ImGui::Text("%.6g", value);
  const auto before = static_cast<double>(map.before.at(row, col));
  ImGui::Text("%+.6f", value);
  ImGui::TextDisabled(tr("%.6f changed − %.6f original"), before + value, before);
}

// Lists the weight of every head that is shown together with the selected one.
void tell_heads(const Canvas& canvas, int row, int col) {
  const HeadMap& map = canvas.map();
  const std::vector<HeadPlace>& heads = map.choice.heads;
  if (heads.size() < 2 || map.lines.size() != heads.size()) return;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    colored_text(color_of(canvas.view, heads[i], canvas.skin.theme),
                 fmt::format("{}  {:.4f}", layer_and_head(heads[i].layer, heads[i].head), map.lines[i].at(row, col)));
  }
}

void set_margins(const Canvas& canvas, HeatmapOptions& options) {
  const HeadMap& map = canvas.map();
  const auto largest = [](const std::vector<float>& values) {
    return values.empty() ? 1.0F : std::max(1e-6F, *std::ranges::max_element(values));
  };
  options.col_bars = {map.received, largest(map.received), tr("received"), "",
                      tr("The attention that this key receives, averaged over the queries that see it.")};
  const auto keys = static_cast<float>(std::max(2, map.map.cols));
  options.row_bars = {
      map.entropies, std::log(keys), tr("entropy"), tr("nats"),
      tr("−Σ w ln w of this query's row. 0: all weight on one key; a full bar, ln(number of keys): evenly on all.")};
}

// The value at the end of the color scale. Differences are small, and values that are not weights have no common scale,
// so they are always scaled to their maximum.
float highest(const Canvas& canvas) {
  const HeadMap& map = canvas.map();
  const bool full = map.is_signed() || canvas.view.full_contrast || !canvas.shown.snapshot->model.has_weights();
  return full && map.largest > 0 ? map.largest : 1;
}

HeatmapOptions matrix_options(const Canvas& canvas, ImVec2 room) {
  const HeadMap& map = canvas.map();
  const PartText& text = text_of(canvas.view.part, canvas.shown.snapshot->model);
  HeatmapOptions options;
  options.row_axis = tr(text.row_axis);
  options.col_axis = tr(text.col_axis);
  options.row_labels = map.row_labels;
  options.col_labels = map.col_labels;
  options.second_row = map.second_row;
  options.second_col = map.second_col;
  options.stretch = 3;
  options.mask_upper = map.causal;
  options.high = highest(canvas);
  if (map.is_signed()) {
    options.map = canvas.skin.theme.diverging;
    options.low = -options.high;
  }
  options.selected_row = canvas.listed_row();
  options.selected_col = canvas.selected_col();
  options.pointed_row = canvas.view.pointed_row;
  options.pointed_col = canvas.view.pointed_col;
  // In less room the cells take the place of margins and legend.
  const bool has_room = room.x >= canvas.skin.px(300) && room.y >= canvas.skin.px(220);
  options.legend = has_room;
  if (has_room && canvas.view.margins && canvas.shown.snapshot->model.has_weights()) set_margins(canvas, options);
  return options;
}

// The first token of a row.
int token_of(int place, const std::vector<WordSpan>& spans) {
  return spans[static_cast<std::size_t>(place)].begin;
}

// Pins row and column of a cell; a second click unpins both.
void choose_cell(Canvas& canvas, int row, int col) {
  AttentionView& view = canvas.view;
  const bool again = canvas.selected_row() == row && canvas.selected_col() == col;
  if (again) return let_go(view);
  view.pinned_row = token_of(row, canvas.map().rows);
  view.pinned_col = token_of(col, canvas.map().cols);
}

void choose_row(Canvas& canvas, int row) {
  const int token = token_of(row, canvas.map().rows);
  toggle_row(canvas.view, canvas.selected_row() == row ? *canvas.view.pinned_row : token);
}

void choose_col(Canvas& canvas, int col) {
  const int token = token_of(col, canvas.map().cols);
  toggle_col(canvas.view, canvas.selected_col() == col ? *canvas.view.pinned_col : token);
}

// The context menu acts on the selection.
void choose_for_menu(Canvas& canvas, const HeatmapResult& result) {
  const int row = std::max(result.row, result.row_label), col = std::max(result.col, result.col_label);
  if (row >= 0) canvas.view.pinned_row = token_of(row, canvas.map().rows);
  if (col >= 0) canvas.view.pinned_col = token_of(col, canvas.map().cols);
}

struct PointedCell {
  int row = -1;
  int col = -1;
};

PointedCell draw_matrix(Canvas& canvas, ImVec2 size) {
  HeatmapOptions options = matrix_options(canvas, size);
  options.zoom = &canvas.view.zoom;
  options.tooltip = [&](int row, int col) {
    tell_cell(canvas, row, col);
    tell_heads(canvas, row, col);
  };
  const HeatmapResult result =
      draw_heatmap("large", canvas.map().map, canvas.map().stamp, size, options, canvas.textures, canvas.skin);
  if (result.menu_asked) choose_for_menu(canvas, result);
  if (result.clicked) choose_cell(canvas, result.row, result.col);
  if (result.label_clicked && result.row_label >= 0) choose_row(canvas, result.row_label);
  if (result.label_clicked && result.col_label >= 0) choose_col(canvas, result.col_label);
  return {std::max(result.row, result.row_label), std::max(result.col, result.col_label)};
}

// ---- the lines

std::vector<Color32> line_colors(const Canvas& canvas) {
  const Theme& theme = canvas.skin.theme;
  if (canvas.map().is_signed()) return {map_color(theme.diverging, 0.95F), map_color(theme.diverging, 0.05F)};
  return {theme.series.begin(), theme.series.end()};
}

std::optional<BipartiteToken> token_at(BipartiteSide side, int place) {
  return place < 0 ? std::nullopt : std::optional(BipartiteToken{side, place});
}

// Lists the largest changes at that token.
void tell_changes(const Canvas& canvas, BipartiteToken token) {
  const HeadMap& map = canvas.map();
  const bool query = token.side == BipartiteSide::queries;
  const auto change = [&](int other) {
    return query ? map.map.at(token.index, other) : map.map.at(other, token.index);
  };
  std::vector<int> order(static_cast<std::size_t>(query ? map.map.cols : map.map.rows));
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int each) { return std::isinf(change(each)); });  // masked
  std::ranges::stable_sort(order, [&](int a, int b) { return std::abs(change(a)) > std::abs(change(b)); });
  order.resize(std::min<std::size_t>(order.size(), 5));
  const auto& own = query ? map.row_labels : map.col_labels;
  const auto& others = query ? map.col_labels : map.row_labels;
  const WithFont mono(canvas.skin.fonts.mono);
  plain_text(own[static_cast<std::size_t>(token.index)]);
  const char* const heading = query ? mark("attends more or less to") : mark("receives more or less attention from");
  ImGui::TextDisabled("%s", tr(map.is_difference() ? heading : mark("largest values")));
  for (const int other : order)
    plain_text(fmt::format("{:+.4f}  {}", change(other), others[static_cast<std::size_t>(other)]));
}

PointedCell draw_lines(Canvas& canvas, ImVec2 size) {
  const HeadMap& map = canvas.map();
  std::vector<const Matrix*> heads(map.lines.size());
  std::ranges::transform(map.lines, heads.begin(), [](const Matrix& line) { return &line; });
  const std::vector<Color32> colors = line_colors(canvas);
  const PartText& text = text_of(canvas.view.part, canvas.shown.snapshot->model);
  BipartiteData data;
  data.heads = heads;
  data.row_labels = map.row_labels;
  data.col_labels = map.col_labels;
  data.second_row = map.second_row;
  data.second_col = map.second_col;
  data.colors = colors;
  data.row_axis = tr(text.row_axis);
  data.col_axis = tr(text.col_axis);
  data.mask_upper = map.causal;
  data.high = highest(canvas);
  if (map.is_signed()) data.first_dashed = 1;
  if (map.is_signed()) data.tooltip = [&](BipartiteToken token) { tell_changes(canvas, token); };
  const auto query = token_at(BipartiteSide::queries, canvas.view.pointed_row);
  data.pointed = query ? query : token_at(BipartiteSide::keys, canvas.view.pointed_col);
  const auto row = token_at(BipartiteSide::queries, canvas.selected_row());
  const auto col = token_at(BipartiteSide::keys, canvas.selected_col());
  std::vector<BipartiteToken> marked;
  if (col) marked.push_back(*col);
  data.marked = marked;
  BipartiteState state{row ? row : col};
  const BipartiteResult result = draw_bipartite("lines", data, state, size, canvas.skin);
  if (result.clicked && result.clicked->side == BipartiteSide::queries) choose_row(canvas, result.clicked->index);
  if (result.clicked && result.clicked->side == BipartiteSide::keys) choose_col(canvas, result.clicked->index);
  if (!result.hovered) return {};
  return result.hovered->side == BipartiteSide::queries ? PointedCell{result.hovered->index, -1}
                                                        : PointedCell{-1, result.hovered->index};
}

// ---- the list of one query's weights

void draw_list_heading(Canvas& canvas, int row, const char* hint) {
  const Skin& skin = canvas.skin;
  draw_label(skin.fonts.mono, skin.theme.text, canvas.map().row_labels[static_cast<std::size_t>(row)], skin);
  ImGui::SameLine(0, skin.px(8));
  const char* const relation = canvas.map().is_difference() ? mark("attends more or less to") : mark("attends to");
  draw_label(skin.fonts.ui, skin.theme.text_dim, tr(canvas.map().captured_signs ? mark("largest values") : relation),
             skin);
  help_tooltip(hint, skin);
  if (!canvas.view.pinned_row && !canvas.view.pinned_col) return;
  next_in_row(button_width(tr("Unpin")), skin.px(8));
  if (ImGui::SmallButton(tr_label("Unpin"))) let_go(canvas.view);
  help_tooltip(tr("Unpins the query and key that were clicked: the list follows the mouse again (Escape)."), skin);
}

// The row's weights on the image whose patches are the keys. Returns the pointed key; −1: none.
int draw_image_grid(Canvas& canvas, int row) {
  const HeadMap& map = canvas.map();
  const CapturedSentence* image = canvas.shown.snapshot->captured.get();
  if (!image || image->grid_rows == 0 || canvas.view.part == AttentionPart::decoder || map.choice.words) return -1;
  Matrix patches(image->grid_rows, image->grid_cols);
  const int first = map.map.cols - patches.rows * patches.cols;
  for (int patch = first; patch < map.map.cols; ++patch)
    patches.values[static_cast<std::size_t>(patch - first)] = map.map.at(row, patch);
  HeatmapOptions options;
  options.row_axis = tr("patch row");
  options.col_axis = tr("patch column");
  options.high = std::max(largest_size(patches.values), 1e-9F);  // each patch has little of the weight
  if (map.is_signed()) {
    options.map = canvas.skin.theme.diverging;
    options.low = -options.high;
  }
  const auto place = [&](int key) { return key < first ? -1 : key - first; };
  const int own = canvas.view.part == AttentionPart::encoder ? place(row) : -1;
  if (own >= 0) options.selected_row = own / patches.cols, options.selected_col = own % patches.cols;
  const auto version = canvas.map().stamp * 100'003 + static_cast<std::uint64_t>(row);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const HeatmapResult result = draw_heatmap("image", patches, version, {room.x, std::min(room.x, room.y * 0.6F)},
                                            options, canvas.textures, canvas.skin);
  const int key = result.row < 0 ? -1 : first + result.row * patches.cols + result.col;
  if (result.clicked) choose_col(canvas, key);
  return key;
}

PointedCell draw_list(Canvas& canvas, int row) {
  const HeadMap& map = canvas.map();
  const char* const hint = map.captured_signs ? mark("Point at a row to list its values; click to pin it.")
                                              : mark("Point at a row to see what it attends to; click to pin it.");
  if (row < 0 || row >= map.map.rows) {
    draw_wrapped_label(canvas.skin.fonts.small, canvas.skin.theme.text_dim, tr(hint), canvas.skin);
    return {};
  }
  draw_list_heading(canvas, row, tr(hint));
  const int visible = map.causal ? std::min(row + 1, map.map.cols) : map.map.cols;
  const int on_grid = draw_image_grid(canvas, row);
  const std::vector<Color32> colors = line_colors(canvas);
  const bool shares = !map.is_signed() && canvas.shown.snapshot->model.has_weights();
  const RowListResult result = draw_row_list(map.map, row, visible, map.col_labels, canvas.selected_col(),
                                             {shares ? 1 : highest(canvas), colors[0], colors[1]}, canvas.skin);
  if (result.clicked >= 0) choose_col(canvas, result.clicked);
  return {-1, std::max(result.hovered, on_grid)};
}

// ---- everything

void place_cursor(ImVec2 origin, const Pane& pane) {
  ImGui::SetCursorScreenPos({origin.x + pane.low.x, origin.y + pane.low.y});
}

void draw_panes(Canvas& canvas, const Panes& panes) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  AttentionView& view = canvas.view;
  const int row = !view.pinned_row && view.pointed_row >= 0 ? view.pointed_row : canvas.listed_row();
  PointedCell pointed;
  const auto take = [&](PointedCell at) { pointed = {std::max(pointed.row, at.row), std::max(pointed.col, at.col)}; };
  if (panes.matrix.shown()) {
    place_cursor(origin, panes.matrix);
    take(draw_matrix(canvas, panes.matrix.size));
  }
  if (panes.lines.shown()) {
    place_cursor(origin, panes.lines);
    take(draw_lines(canvas, panes.lines.size));
  }
  if (panes.list.shown()) {
    place_cursor(origin, panes.list);
    ImGui::BeginChild("row", panes.list.size, false, view_flags());
    if (view.picture == HeadPicture::both && !panes.lines.shown()) {
      draw_wrapped_label(canvas.skin.fonts.small, canvas.skin.theme.text_dim,
                         tr("No room for the lines next to the matrix: close a side column, or choose Lines."),
                         canvas.skin);
    }
    take(draw_list(canvas, row));
    ImGui::EndChild();
  }
  view.pointed_row = pointed.row;
  view.pointed_col = pointed.col;
}

float matrix_height(const Canvas& canvas, ImVec2 room) {
  const HeatmapOptions options = matrix_options(canvas, room);
  return heatmap_height(canvas.map().map, options, {room.x, room.y * 0.7F}, canvas.skin) +
         font_size(canvas.skin.fonts.small) + canvas.skin.px(8);
}

// Height at which the columns have their preferred row height.
float lines_height(const Canvas& canvas) {
  const auto rows = static_cast<float>(std::max(canvas.map().map.rows, canvas.map().map.cols));
  const Skin& skin = canvas.skin;
  return rows * (font_size(skin.fonts.mono) + skin.px(8)) + font_size(skin.fonts.small) + skin.px(8);
}

}  // namespace

void draw_head(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin) {
  if (maps.lacks(view.part)) return draw_quiet_note(tr("decoding…"), ImGui::GetContentRegionAvail(), skin);
  const Shown& shown = maps.of(view.part);
  clamp_to(view, *shown.snapshot);
  update(view.map, view.choice(), shown);
  Canvas canvas{shown, view, textures, skin};
  draw_head_caption(shown, view, skin);
  draw_head_controls(shown, view, skin);
  ImVec2 room = ImGui::GetContentRegionAvail();
  room.y = std::max(room.y, skin.px(200));  // scrolls if the window is shorter
  draw_panes(canvas, arrange(view.picture, room, matrix_height(canvas, room), lines_height(canvas), skin));
}

}  // namespace attnscope
