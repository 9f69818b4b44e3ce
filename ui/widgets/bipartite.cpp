#include "widgets/bipartite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/pointed.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "common/matrix_text.h"
#include "widgets/heatmap.h"
#include "widgets/painter.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

using Side = BipartiteSide;

// Per frame. Dear ImGui has 16-bit indices on older OpenGL, and a line takes up to 8 vertices.
constexpr std::size_t most_lines = 4000;
constexpr int num_dashes = 9;

Side other(Side side) {
  return side == Side::queries ? Side::keys : Side::queries;
}

// Layout of the columns.
struct Columns {
  ImFont* font = nullptr;
  float pitch = 0;        // from one token to the next
  float label_width = 0;  // of each column
  float left = 0;         // inner edges of the columns, where the labels end
  float lines_left = 0;   // horizontal extent of the lines between the columns
  float lines_right = 0;
  float top = 0;       // of the first token; above the window when scrolled
  float seen_low = 0;  // vertical range that is visible
  float seen_high = 0;
};

// The state of drawing one view.
struct BipartiteCanvas {
  const BipartiteData& data;
  const Skin& skin;
  int queries = 0;
  int keys = 0;
  Columns columns = {};

  int count(Side side) const { return side == Side::queries ? queries : keys; }

  std::string label(BipartiteToken token) const {
    return label_of(token.side == Side::queries ? data.row_labels : data.col_labels, token.index, 0);
  }

  Color32 color(std::size_t head) const {
    if (head < data.colors.size()) return data.colors[head];
    return series_color(skin.theme, head);
  }

  // The number of dashes of one line; 1: it is continuous.
  int dashes(std::size_t head) const { return head < data.first_dashed ? 1 : num_dashes; }

  // 0 outside a head's matrix, and where it is negative.
  float weight(std::size_t head, int query, int key) const {
    const Matrix* matrix = data.heads[head];
    if (!matrix || query >= matrix->rows || key >= matrix->cols || (data.mask_upper && key > query)) return 0;
    return std::max(0.0F, matrix->at(query, key));
  }

  // Relative to the largest weight that can be drawn.
  float strength(float weight) const { return data.high > 0 ? std::min(weight / data.high, 1.0F) : 0; }

  float weight_between(std::size_t head, BipartiteToken token, int partner) const {
    return token.side == Side::queries ? weight(head, token.index, partner) : weight(head, partner, token.index);
  }

  float mean_weight(BipartiteToken token, int partner) const {
    float sum = 0;
    for (std::size_t head = 0; head < data.heads.size(); ++head) sum += weight_between(head, token, partner);
    return sum / static_cast<float>(data.heads.size());
  }

  float middle(int index) const { return columns.top + (static_cast<float>(index) + 0.5F) * columns.pitch; }

  // Top left corner of a token's box, which spans its column.
  ImVec2 corner(BipartiteToken token) const {
    const float x = token.side == Side::queries ? columns.left : columns.lines_right;
    return {x, columns.top + static_cast<float>(token.index) * columns.pitch};
  }
  ImVec2 box() const { return {columns.label_width, columns.pitch}; }

  bool in_sight(float low, float high) const { return high >= columns.seen_low && low <= columns.seen_high; }
};

int largest(std::span<const Matrix* const> heads, int Matrix::*extent) {
  int result = 0;
  for (const Matrix* head : heads)
    if (head) result = std::max(result, head->*extent);
  return result;
}

// ---- layout

float longest_label(const BipartiteCanvas& canvas, const ImFont* font) {
  float width = 0;
  for (const Side side : {Side::queries, Side::keys})
    for (int i = 0; i < canvas.count(side); ++i) width = std::max(width, text_size(font, canvas.label({side, i})).x);
  return width;
}

// Rows have their preferred height while all fit; then they shrink down to the small font's height; then the columns
// scroll.
Columns make_columns(const BipartiteCanvas& canvas, ImVec2 origin, ImVec2 room) {
  const Skin& skin = canvas.skin;
  const auto rows = static_cast<float>(std::max(canvas.queries, canvas.keys));
  Columns columns;
  const float fitting = std::floor(room.y / rows);
  const float comfortable = font_size(skin.fonts.mono) + skin.px(8);
  columns.font = fitting >= font_size(skin.fonts.mono) + skin.px(2) ? skin.fonts.mono : skin.fonts.mono_small;
  columns.pitch = clamped(fitting, font_size(skin.fonts.mono_small) + 1, comfortable);
  if (columns.pitch > fitting) room.x -= ImGui::GetStyle().ScrollbarSize;
  columns.label_width = std::min(longest_label(canvas, columns.font) + skin.px(12), room.x * 0.35F);
  columns.left = origin.x;
  columns.lines_left = origin.x + columns.label_width;
  columns.lines_right = columns.lines_left + clamped(room.x - 2 * columns.label_width, 1.0F, skin.px(420));
  return columns;
}

// ---- lines

// The weight quantized to opacity levels; a line at level 0 is invisible.
int opacity(const BipartiteCanvas& canvas, float weight) {
  return static_cast<int>(canvas.strength(weight) * 255 + 0.5F);
}

// Calls visit(head, query, key, opacity) for every visible line.
template <class Visit>
void for_each_line(const BipartiteCanvas& canvas, Visit&& visit) {
  for (std::size_t head = 0; head < canvas.data.heads.size(); ++head)
    for (int query = 0; query < canvas.queries; ++query) {
      const float from = canvas.middle(query);
      for (int key = 0; key < canvas.keys; ++key) {
        const int step = opacity(canvas, canvas.weight(head, query, key));
        if (step == 0) continue;
        const float to = canvas.middle(key);
        if (canvas.in_sight(std::min(from, to), std::max(from, to))) visit(head, query, key, step);
      }
    }
}

void draw_line(Painter& paint, const BipartiteCanvas& canvas, std::size_t head, int query, int key, int step) {
  const float thickness = canvas.skin.px(step < 64 ? 1.0F : step < 160 ? 2.0F : 3.0F);
  const ImVec2 from{canvas.columns.lines_left, canvas.middle(query)},
      to{canvas.columns.lines_right, canvas.middle(key)};
  const auto between = [&](float share) {
    return ImVec2{from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)};
  };
  const int dashes = canvas.dashes(head), parts = 2 * dashes - 1;
  for (int part = 0; part < parts; part += 2)
    paint.line(between(static_cast<float>(part) / static_cast<float>(parts)),
               between(static_cast<float>(part + 1) / static_cast<float>(parts)),
               faded(canvas.color(head), static_cast<float>(step) / 255), std::max(1.0F, std::round(thickness)));
}

// Selects the lines to draw when there are too many: those with at least that opacity, and a regular subsample of them.
struct Choice {
  int least = 1;
  std::size_t every = 1;
};

Choice choose_lines(const BipartiteCanvas& canvas) {
  std::array<std::size_t, 256> count{};
  for_each_line(canvas, [&](std::size_t head, int, int, int step) {
    count[static_cast<std::size_t>(step)] += static_cast<std::size_t>(canvas.dashes(head));
  });
  std::size_t chosen = 0;
  int least = 256;
  while (least > 1 && (chosen == 0 || chosen + count[static_cast<std::size_t>(least - 1)] <= most_lines))
    chosen += count[static_cast<std::size_t>(--least)];
  return {least, std::max<std::size_t>(1, (chosen + most_lines - 1) / most_lines)};
}

// Draws the lines of all tokens and returns the smallest weight drawn.
float draw_all_lines(Painter& paint, const BipartiteCanvas& canvas) {
  const Choice choice = choose_lines(canvas);
  std::size_t number = 0;
  for_each_line(canvas, [&](std::size_t head, int query, int key, int step) {
    if (step >= choice.least && number++ % choice.every == 0) draw_line(paint, canvas, head, query, key, step);
  });
  return canvas.data.high * static_cast<float>(choice.least) / 255;
}

float draw_lines_of(Painter& paint, const BipartiteCanvas& canvas, BipartiteToken token) {
  for (std::size_t head = 0; head < canvas.data.heads.size(); ++head)
    for (int partner = 0; partner < canvas.count(other(token.side)); ++partner) {
      const int step = opacity(canvas, canvas.weight_between(head, token, partner));
      if (step == 0) continue;
      if (token.side == Side::queries)
        draw_line(paint, canvas, head, token.index, partner, step);
      else
        draw_line(paint, canvas, head, partner, token.index, step);
    }
  return canvas.data.high / 255;
}

// ---- tokens

// Draws the weights of `focus` behind a token of the other column, one stripe per head. Returns the mean color.
Color32 draw_weight_box(Painter& paint, const BipartiteCanvas& canvas, BipartiteToken focus, BipartiteToken token) {
  const ImVec2 low = canvas.corner(token);
  const std::size_t heads = canvas.data.heads.size();
  const float width = canvas.box().x / static_cast<float>(heads);
  Color32 mean = canvas.skin.theme.background;
  for (std::size_t head = 0; head < heads; ++head) {
    const float weight = canvas.strength(canvas.weight_between(head, focus, token.index));
    mean =
        mixed(mean, mixed(canvas.skin.theme.background, canvas.color(head), weight), 1 / static_cast<float>(head + 1));
    if (weight * 255 < 0.5F) continue;
    const float x = low.x + width * static_cast<float>(head);
    paint.filled_rect({x, low.y}, {x + width, low.y + canvas.box().y}, faded(canvas.color(head), weight));
  }
  return mean;
}

void draw_token(Painter& paint, const BipartiteCanvas& canvas, BipartiteToken token,
                const std::optional<BipartiteToken>& focus, bool marked) {
  const Columns& columns = canvas.columns;
  const Skin& skin = canvas.skin;
  const ImVec2 low = canvas.corner(token);
  if (!canvas.in_sight(low.y, low.y + columns.pitch)) return;
  const int second = token.side == Side::queries ? canvas.data.second_row : canvas.data.second_col;
  const bool is_second = second >= 0 && token.index >= second;
  Color32 ink = mixed(skin.theme.text_dim, is_second ? second_sentence_color(skin.theme) : skin.theme.text, 0.6F);
  const ImVec2 high{low.x + canvas.box().x, low.y + canvas.box().y};
  if (focus && focus->side != token.side) {
    ink = text_on(draw_weight_box(paint, canvas, *focus, token));
  } else if (focus == token || marked) {
    paint.filled_rect(low, high, skin.theme.hovered, skin.px(2));
    ink = is_second ? second_sentence_color(skin.theme) : skin.theme.text;
  } else if (focus) {
    ink = skin.theme.text_dim;
  }
  if (marked) paint.rect(low, high, skin.theme.accent, skin.px(2), skin.px(1.5F));
  const float margin = skin.px(6);
  const std::string text = shortened(columns.font, canvas.label(token), columns.label_width - 2 * margin);
  const ImVec2 extent = text_size(columns.font, text);
  const float x = token.side == Side::queries ? columns.lines_left - margin - extent.x : columns.lines_right + margin;
  paint.text(columns.font, {x, low.y + (columns.pitch - extent.y) / 2}, ink, text);
}

void draw_column(Painter& paint, const BipartiteCanvas& canvas, Side side, const std::optional<BipartiteToken>& focus,
                 const BipartiteState& state) {
  for (int i = 0; i < canvas.count(side); ++i) {
    const BipartiteToken token{side, i};
    const bool marked = std::ranges::find(canvas.data.marked, token) != canvas.data.marked.end();
    draw_token(paint, canvas, token, focus, marked || state.pinned == token);
  }
}

// The tokens of the other column with the largest weights, in descending order.
std::vector<int> strongest_partners(const BipartiteCanvas& canvas, BipartiteToken token, std::size_t most) {
  std::vector<float> weights;
  for (int i = 0; i < canvas.count(other(token.side)); ++i) weights.push_back(canvas.mean_weight(token, i));
  std::vector<int> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return weights[static_cast<std::size_t>(a)] > weights[static_cast<std::size_t>(b)];
  });
  order.resize(std::min(order.size(), most));
  return order;
}

void tell_weights(const BipartiteCanvas& canvas, BipartiteToken token) {
  const WithFont mono(canvas.skin.fonts.mono);
  ImGui::TextUnformatted(canvas.label(token).c_str());
  const std::size_t heads = canvas.data.heads.size();
  const char* relation = token.side == Side::queries ? tr("attends to") : tr("is attended to by");
  ImGui::TextDisabled("%s", heads > 1 ? trf("{} (mean of {} heads)", relation, heads).c_str() : relation);
  for (const int partner : strongest_partners(canvas, token, 5)) {
    const float weight = canvas.mean_weight(token, partner);
    if (weight > 0)
      ImGui::Text("%.4f  %s", static_cast<double>(weight), canvas.label({other(token.side), partner}).c_str());
  }
}

void token_tooltip(const BipartiteCanvas& canvas, BipartiteToken token) {
  const auto& labels = token.side == Side::queries ? canvas.data.row_labels : canvas.data.col_labels;
  const std::string& label = labels[static_cast<std::size_t>(token.index)];
  point_at({.thing = HoverTarget::token,
            .name = label,
            .value = label,
            .about = token.side == Side::queries ? "query" : "key"});
  ImGui::BeginTooltip();
  if (canvas.data.tooltip)
    canvas.data.tooltip(token);
  else
    tell_weights(canvas, token);
  ImGui::EndTooltip();
}

// ---- mouse and keyboard

struct Touch {
  std::optional<BipartiteToken> hovered;
  std::optional<BipartiteToken> focused;  // keyboard focus
  std::optional<BipartiteToken> pressed;
};

void touch_column(const BipartiteCanvas& canvas, Side side, Touch& touch) {
  ImGui::PushID(static_cast<int>(side));
  for (int i = 0; i < canvas.count(side); ++i) {
    const BipartiteToken token{side, i};
    ImGui::PushID(i);
    ImGui::SetCursorScreenPos(canvas.corner(token));
    if (ImGui::InvisibleButton("token", {std::max(1.0F, canvas.box().x), canvas.box().y})) touch.pressed = token;
    if (ImGui::IsItemHovered()) touch.hovered = token;
    if (ImGui::GetIO().NavVisible && ImGui::IsItemFocused()) touch.focused = token;
    ImGui::PopID();
  }
  ImGui::PopID();
}

// Returns the token whose lines only are shown.
std::optional<BipartiteToken> focus_of(const BipartiteCanvas& canvas, const Touch& touch, const BipartiteState& state) {
  if (touch.hovered) return touch.hovered;
  if (touch.focused) return touch.focused;
  const std::optional<BipartiteToken>& pointed = canvas.data.pointed;
  return pointed && pointed->index < canvas.count(pointed->side) ? pointed : state.pinned;
}

void pin_or_let_go(BipartiteState& state, BipartiteToken token) {
  state.pinned = state.pinned == token ? std::nullopt : std::optional(token);
}

// Draws everything that scrolls.
BipartiteResult draw_columns(BipartiteCanvas& canvas, BipartiteState& state) {
  canvas.columns.top = ImGui::GetCursorScreenPos().y;
  canvas.columns.seen_low = ImGui::GetWindowPos().y;
  canvas.columns.seen_high = canvas.columns.seen_low + ImGui::GetWindowSize().y;
  Touch touch;
  touch_column(canvas, Side::queries, touch);
  touch_column(canvas, Side::keys, touch);
  if (touch.pressed) pin_or_let_go(state, *touch.pressed);
  const std::optional<BipartiteToken> focus = focus_of(canvas, touch, state);
  Painter paint(canvas.skin);
  BipartiteResult result{touch.hovered, touch.pressed};
  result.least_drawn = focus ? draw_lines_of(paint, canvas, *focus) : draw_all_lines(paint, canvas);
  draw_column(paint, canvas, Side::queries, focus, state);
  draw_column(paint, canvas, Side::keys, focus, state);
  if (touch.hovered) token_tooltip(canvas, *touch.hovered);
  return result;
}

bool has_headings(const BipartiteData& data) {
  return !data.row_axis.empty() || !data.col_axis.empty();
}

// Draws the headings over their columns. They may be wider than the labels, but do not extend past `right`.
void draw_headings(const BipartiteCanvas& canvas, ImVec2 at, float right) {
  const Skin& skin = canvas.skin;
  ImFont* font = skin.fonts.small;
  const std::string keys(canvas.data.col_axis);
  const float width = text_size(font, keys).x;
  const float left = std::max(at.x, std::min(canvas.columns.lines_right + skin.px(6), right - width));
  Painter paint(skin);
  const float room = left - at.x - skin.px(8);
  paint.text(font, at, skin.theme.text_dim, shortened(font, std::string(canvas.data.row_axis), room));
  paint.text(font, {left, at.y}, skin.theme.text_dim, keys);
}

// Missing labels are replaced by numbers.
int token_count(std::span<const std::string> labels, std::span<const Matrix* const> heads, int Matrix::*extent) {
  return labels.empty() ? largest(heads, extent) : static_cast<int>(labels.size());
}

}  // namespace

BipartiteResult draw_bipartite(const char* id, const BipartiteData& data, BipartiteState& state, ImVec2 size,
                               const Skin& skin) {
  size = room_for(size);
  BipartiteCanvas canvas{data, skin, token_count(data.row_labels, data.heads, &Matrix::rows),
                         token_count(data.col_labels, data.heads, &Matrix::cols)};
  if (data.heads.empty() || canvas.queries == 0 || canvas.keys == 0) {
    draw_quiet_note(tr("nothing to show yet"), size, skin);
    return {};
  }
  if (state.pinned && state.pinned->index >= canvas.count(state.pinned->side)) state.pinned.reset();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float above = has_headings(data) ? font_size(skin.fonts.small) + skin.px(4) : 0;
  const ImVec2 room{size.x, std::max(1.0F, size.y - above)};
  canvas.columns = make_columns(canvas, origin, room);
  draw_headings(canvas, origin, origin.x + size.x);
  ImGui::SetCursorScreenPos({origin.x, origin.y + above});
  ImGui::BeginChild(id, room);
  const BipartiteResult result = draw_columns(canvas, state);
  ImGui::EndChild();
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(size);
  return result;
}

}  // namespace attnscope
