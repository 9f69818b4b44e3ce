#include "workspaces/decoding/tree_canvas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/painter.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

// Maximum number of visible nodes drawn with details: a draw list holds 65,536 vertices.
constexpr int most_ornate = 200;
constexpr int most_boxes = 700;

constexpr float largest_row_pitch = 36;  // at scale 1; the wheel can exceed it

// The mapping of the tree to the screen in this frame.
struct Placement {
  ImVec2 origin;  // top left corner of the scrolled contents
  ImVec2 low;     // top left corner of their visible part
  ImVec2 high;
  ImVec2 pitch;
  float left = 0;  // margin before the first column
  float head = 0;  // height above the first row
  float top = 0;   // y of the first row
  float chip = 0;  // width of a node

  float x(int step) const { return origin.x + left + pitch.x * static_cast<float>(step); }
  float y(float row) const { return origin.y + head + (row - top + 0.5F) * pitch.y; }
  int step_at(float px) const { return static_cast<int>(std::floor((px - origin.x - left) / pitch.x)); }
};

ImVec2 margins(const Skin& skin) {
  return {skin.px(24), skin.px(20)};
}

ImVec2 extent(const TreeLayout& layout) {
  return {static_cast<float>(std::max<std::size_t>(1, layout.columns.size())), layout.bottom - layout.top + 1};
}

ImVec2 content_size(const TreeLayout& layout, ImVec2 pitch, const Skin& skin) {
  const ImVec2 cells = extent(layout);
  return {margins(skin).x + cells.x * pitch.x + skin.px(4), margins(skin).y + cells.y * pitch.y + skin.px(6)};
}

ImVec2 fitted_pitch(const TreeLayout& layout, TreeZoom zoom, ImVec2 size, const Skin& skin) {
  const ImVec2 cells = extent(layout);
  const ImVec2 least = zoom == TreeZoom::whole ? ImVec2(3, 3) : ImVec2(skin.px(74), skin.px(18));
  const ImVec2 taken = content_size(layout, {0, 0}, skin);
  ImVec2 pitch;
  pitch.x = clamped((size.x - taken.x) / cells.x, least.x, skin.px(116));
  if (content_size(layout, pitch, skin).x > size.x) size.y -= ImGui::GetStyle().ScrollbarSize;
  pitch.y = clamped((size.y - taken.y) / cells.y, least.y, skin.px(largest_row_pitch));
  return pitch;
}

// ---- nodes

struct NodeStyle {
  HypothesisState state = HypothesisState::kept;
  Color32 outline = 0;  // 0: only the outline of its fate
  bool plain = false;   // without rounded corners and hatching
};

// Distinguishable without colors: pruned nodes are hatched, finished ones have a bar at their end.
void draw_box(Painter& paint, ImVec2 low, ImVec2 high, const NodeStyle& style, const Skin& skin) {
  const Theme& theme = skin.theme;
  const float rounding = style.plain || style.state == HypothesisState::pruned ? 0 : skin.px(4);
  switch (style.state) {
    case HypothesisState::kept:
      paint.filled_rect(low, high, theme.hovered, rounding);
      break;
    case HypothesisState::pruned:
      paint.filled_rect(low, high, theme.background);
      if (!style.plain) draw_hatching(paint, low, high, theme.border, skin.px(5));
      break;
    case HypothesisState::finished:
      paint.filled_rect(low, high, mixed(theme.panel, theme.success, 0.4F), rounding);
      paint.filled_rect({high.x - skin.px(4), low.y}, high, theme.success);
      break;
  }
  const Color32 outline = style.outline != 0                         ? style.outline
                          : style.state == HypothesisState::finished ? theme.success
                                                                     : theme.border;
  paint.rect(low, high, outline, rounding, style.outline != 0 ? skin.px(2) : 1);
}

void draw_mark(Painter& paint, ImVec2 at, float radius, const NodeStyle& style, const Skin& skin) {
  const Color32 color = style.outline != 0                         ? style.outline
                        : style.state == HypothesisState::finished ? skin.theme.success
                                                                   : skin.theme.text_dim;
  const ImVec2 low(at.x - radius, at.y - radius);
  const ImVec2 high(at.x + radius, at.y + radius);
  // With many nodes, draws squares to save vertices; those of pruned nodes are smaller.
  if (radius < skin.px(2.5F)) {
    const float half = style.state == HypothesisState::pruned ? radius * 0.6F : radius;
    return paint.filled_rect({at.x - half, at.y - half}, {at.x + half, at.y + half}, color);
  }
  if (style.state == HypothesisState::kept) return paint.filled_circle(at, radius, color);
  if (style.state == HypothesisState::finished) return paint.filled_rect(low, high, color);
  paint.line(low, high, faded(color, 0.7F));
  paint.line({low.x, high.y}, {high.x, low.y}, faded(color, 0.7F));
}

// Draws one frame of the tree.
class Canvas {
 public:
  Canvas(const std::vector<BeamNode>& tree, std::span<const int> marked, const TreeView& view, const Placement& place,
         const Skin& skin)
      : tree_(tree), marked_(marked), view_(view), place_(place), skin_(skin), paint_(skin) {
    two_lines_ = place.pitch.y >= font_size(skin.fonts.mono_small) * 2 + skin.px(4);
    first_ = std::max(0, place.step_at(place.low.x));
    last_ = std::min(static_cast<int>(view.layout.columns.size()) - 1, place.step_at(place.high.x) + 1);
    const int in_sight = nodes_in_sight();
    boxes_ = place.pitch.x >= skin.px(40) && place.pitch.y >= skin.px(15) && in_sight <= most_boxes;
    plain_ = in_sight > most_ornate;
  }

  int node_at(ImVec2 mouse) const {
    const int step = place_.step_at(mouse.x);
    if (step < 0 || step > last_) return -1;
    const float x = place_.x(step);
    if (boxes_ && mouse.x > x + place_.chip) return -1;
    for (const int node : view_.layout.columns[static_cast<std::size_t>(step)]) {
      if (std::abs(mouse.y - y(node)) <= place_.pitch.y * 0.5F) return node;
    }
    return -1;
  }

  void draw(int hovered) {
    paint_.filled_circle({place_.x(0) - skin_.px(14), place_.y(0)}, skin_.px(4), skin_.theme.text_dim);
    const bool dense = place_.pitch.y < skin_.px(5);
    if (!dense) draw_edges(HypothesisState::pruned, faded(skin_.theme.text_dim, 0.4F));
    draw_edges(HypothesisState::kept, faded(skin_.theme.text_dim, 0.9F));
    draw_edges(HypothesisState::finished, skin_.theme.success);
    draw_path(view_.best_path, skin_.theme.accent, 2.6F);
    draw_path(marked_, skin_.theme.warning, 2.6F);
    for (int node = hovered; node >= 0; node = at(node).parent) draw_edge(node, skin_.theme.text, 1.6F);
    for (int step = first_; step <= last_; ++step) {
      for (const int node : view_.layout.columns[static_cast<std::size_t>(step)]) draw_node(node, node == hovered);
    }
    if (!boxes_) draw_thinned_labels();
    draw_steps();
  }

 private:
  const BeamNode& at(int node) const { return tree_[static_cast<std::size_t>(node)]; }
  float y(int node) const { return place_.y(view_.layout.rows[static_cast<std::size_t>(node)]); }
  bool visible(float at_y) const {
    return at_y > place_.low.y - place_.pitch.y && at_y < place_.high.y + place_.pitch.y;
  }
  int nodes_in_sight() const {
    int count = 0;
    for (int step = first_; step <= last_; ++step) {
      count += static_cast<int>(std::ranges::count_if(view_.layout.columns[static_cast<std::size_t>(step)],
                                                      [this](int node) { return visible(y(node)); }));
    }
    return count;
  }

  bool on_path(std::span<const int> path, int node) const {
    const auto step = static_cast<std::size_t>(at(node).step);
    return step < path.size() && path[step] == node;
  }

  void draw_edge(int node, Color32 color, float thickness) {
    const int parent = at(node).parent;
    const float half = boxes_ ? place_.chip : 0;
    const ImVec2 from = parent < 0 ? ImVec2(place_.x(0) - skin_.px(14), place_.y(0))
                                   : ImVec2(place_.x(at(parent).step) + half, y(parent));
    const ImVec2 to(place_.x(at(node).step), y(node));
    if (std::max(from.y, to.y) < place_.low.y || std::min(from.y, to.y) > place_.high.y) return;
    if (!boxes_ || plain_ || std::abs(from.y - to.y) < 1) return paint_.line(from, to, color, skin_.px(thickness));
    std::array<ImVec2, 9> curve;
    for (std::size_t i = 0; i < curve.size(); ++i) {
      const float t = static_cast<float>(i) / static_cast<float>(curve.size() - 1);
      const float ease = t * t * (3 - 2 * t);
      curve[i] = {from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * ease};
    }
    paint_.polyline(curve, color, skin_.px(thickness));
  }

  void draw_edges(HypothesisState state, Color32 color) {
    for (int step = first_; step <= last_; ++step) {
      for (const int node : view_.layout.columns[static_cast<std::size_t>(step)]) {
        if (at(node).state == state) draw_edge(node, color, state == HypothesisState::pruned ? 1.0F : 1.4F);
      }
    }
  }

  void draw_path(std::span<const int> path, Color32 color, float thickness) {
    for (const int node : path) {
      if (at(node).step >= first_ && at(node).step <= last_ && shown(node)) draw_edge(node, color, thickness);
    }
  }

  bool shown(int node) const { return view_.with_pruned || at(node).state != HypothesisState::pruned; }

  void draw_node(int node, bool hovered) {
    const float middle = y(node);
    if (!visible(middle)) return;
    NodeStyle style{at(node).state, 0, plain_};
    if (on_path(view_.best_path, node)) style.outline = skin_.theme.accent;
    if (on_path(marked_, node)) style.outline = skin_.theme.warning;
    if (hovered) style.outline = skin_.theme.text;
    const float x = place_.x(at(node).step);
    if (!boxes_) {
      const float radius = clamped(std::min(place_.pitch.x, place_.pitch.y) * 0.3F, 1.2F, skin_.px(4.5F));
      return draw_mark(paint_, {x, middle}, radius, style, skin_);
    }
    draw_text_box(at(node), {x, middle}, style);
  }

  void draw_text_box(const BeamNode& node, ImVec2 left_middle, const NodeStyle& style) {
    ImFont* font = skin_.fonts.mono_small;
    const float line = font_size(font);
    const float half = (two_lines_ ? line * 2 + skin_.px(3) : std::min(line + skin_.px(4), place_.pitch.y - 1)) * 0.5F;
    const ImVec2 low(left_middle.x, left_middle.y - half);
    draw_box(paint_, low, {low.x + place_.chip, left_middle.y + half}, style, skin_);
    const float inset = skin_.px(5);
    const float room = place_.chip - 2 * inset - (style.state == HypothesisState::finished ? skin_.px(3) : 0);
    const Color32 ink = style.state == HypothesisState::pruned ? skin_.theme.text_dim : skin_.theme.text;
    const std::string score = number_text(node.score, 2);
    const float score_width = text_size(font, score).x;
    const std::string token = shortened(font, node.token.text, room);
    const float token_width = text_size(font, token).x;
    const float first = two_lines_ ? low.y + skin_.px(1) : left_middle.y - line * 0.5F;
    paint_.text(font, {low.x + inset, first}, ink, token);
    if (two_lines_ && score_width <= room)
      paint_.text(font, {low.x + inset, first + line}, skin_.theme.text_dim, score);
    else if (place_.chip >= skin_.px(120) && token_width + score_width < room)
      paint_.text(font, {low.x + inset + room - score_width, first}, skin_.theme.text_dim, score);
  }

  // Labels tokens of the best hypothesis, or of the selected one, as far as there is room.
  void draw_thinned_labels() {
    ImFont* font = skin_.fonts.mono_small;
    float free_from = place_.low.x;
    for (const int node : marked_.empty() ? std::span<const int>(view_.best_path) : marked_) {
      const ImVec2 corner(place_.x(at(node).step), y(node) - font_size(font) - skin_.px(4));
      if (corner.x < free_from || corner.x > place_.high.x) continue;
      const std::string& token = at(node).token.text;
      const float width = text_size(font, token).x;
      const ImVec2 low(corner.x - skin_.px(2), corner.y);
      paint_.filled_rect(low, {corner.x + width + skin_.px(2), corner.y + font_size(font)},
                         faded(skin_.theme.background, 0.8F));
      paint_.text(font, corner, skin_.theme.text, token);
      free_from = corner.x + width + skin_.px(8);
    }
  }

  // Draws step numbers, which stay on top while the rest scrolls below them.
  void draw_steps() {
    ImFont* font = skin_.fonts.mono_small;
    float free_from = place_.low.x;
    paint_.filled_rect(place_.low, {place_.high.x, place_.low.y + place_.head - skin_.px(2)}, skin_.theme.background);
    for (int step = first_; step <= last_; ++step) {
      const std::string number = std::to_string(step + 1);
      const float width = text_size(font, number).x;
      const float x = place_.x(step) + (boxes_ ? (place_.chip - width) * 0.5F : -width * 0.5F);
      if (x < free_from) continue;
      paint_.text(font, {x, place_.low.y + skin_.px(2)}, skin_.theme.text_dim, number);
      free_from = x + width + skin_.px(8);
    }
  }

  const std::vector<BeamNode>& tree_;
  std::span<const int> marked_;
  const TreeView& view_;
  const Placement& place_;
  const Skin& skin_;
  Painter paint_;
  bool boxes_ = true;  // nodes have room for text
  bool two_lines_ = true;
  bool plain_ = false;  // too many nodes for curves and hatching
  int first_ = 0;       // index of the first visible column
  int last_ = -1;
};

// ---- legend

struct LegendEntry {
  const char* text;
  const char* help;
};

void draw_legend_entry(const LegendEntry& entry, const Skin& skin, const auto& draw_sample) {
  const WithFont font(skin.fonts.small);
  const float height = ImGui::GetFrameHeight();
  const float sample = skin.px(22);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = sample + skin.px(6) + ImGui::CalcTextSize(entry.text).x;
  ImGui::Dummy({width, height});
  help_tooltip(entry.help, skin);
  Painter paint(skin);
  const float middle = at.y + height * 0.5F;
  draw_sample(paint, ImVec2(at.x, middle - skin.px(6)), ImVec2(at.x + sample, middle + skin.px(6)));
  paint.text(skin.fonts.small, {at.x + sample + skin.px(6), middle - ImGui::GetFontSize() * 0.5F}, skin.theme.text_dim,
             entry.text);
  ImGui::SameLine(0, skin.px(12));
}

// ---- zoom and pan

// Clamps the scroll position to the contents, which shrink when zooming out.
void scroll_to(ImVec2 position, ImVec2 content, ImVec2 visible) {
  ImGui::SetScrollX(clamped(position.x, 0.0F, std::max(0.0F, content.x - visible.x)));
  ImGui::SetScrollY(clamped(position.y, 0.0F, std::max(0.0F, content.y - visible.y)));
}

ImVec2 zoomed_pitch(ImVec2 pitch, const Skin& skin) {
  const ImGuiIO& io = ImGui::GetIO();
  const float wheel = io.MouseWheel != 0 ? io.MouseWheel : io.MouseWheelH;  // Shift may make the wheel horizontal
  const float factor = std::pow(1.15F, wheel);
  if (!io.KeyCtrl) pitch.x = clamped(pitch.x * factor, 3.0F, skin.px(260));
  if (!io.KeyShift) pitch.y = clamped(pitch.y * factor, 3.0F, skin.px(60));
  return pitch;
}

// The scroll position that keeps the point under the mouse in place.
ImVec2 scroll_after_zoom(const Placement& place, ImVec2 pitch) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float cols = (mouse.x - place.origin.x - place.left) / place.pitch.x;
  const float rows = (mouse.y - place.origin.y - place.head) / place.pitch.y;
  return {ImGui::GetScrollX() + cols * (pitch.x - place.pitch.x),
          ImGui::GetScrollY() + rows * (pitch.y - place.pitch.y)};
}

// Takes effect in the next frame.
void handle_mouse(const Placement& place, bool hovered, bool active, TreeView& view, const Skin& skin) {
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 visible(place.high.x - place.low.x, place.high.y - place.low.y);
  ImVec2 scroll(ImGui::GetScrollX(), ImGui::GetScrollY());
  ImVec2 pitch = place.pitch;
  if (hovered && (io.MouseWheel != 0 || io.MouseWheelH != 0)) {
    pitch = zoomed_pitch(pitch, skin);
    scroll = scroll_after_zoom(place, pitch);
    view.zoom = TreeZoom::own;
    view.pitch = pitch;
  }
  if (active && ImGui::IsMouseDragging(ImGuiMouseButton_Left))
    scroll = {scroll.x - io.MouseDelta.x, scroll.y - io.MouseDelta.y};
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
    view.zoom = view.zoom == TreeZoom::whole ? TreeZoom::readable : TreeZoom::whole;
  if (view.arrived) scroll = {0, place.y(0) - place.origin.y - visible.y * 0.5F};
  view.arrived = false;
  const ImVec2 content = content_size(view.layout, pitch, skin);
  scroll_to(scroll, content, visible);
  ImGui::SetCursorScreenPos(place.origin);
  ImGui::Dummy(content);
}

Placement place_tree(const TreeView& view, ImVec2 pitch, const Skin& skin) {
  Placement place;
  place.origin = ImGui::GetCursorScreenPos();
  place.low = {place.origin.x + ImGui::GetScrollX(), place.origin.y + ImGui::GetScrollY()};
  const ImVec2 room = ImGui::GetContentRegionAvail();
  place.high = {place.low.x + room.x, place.low.y + room.y};
  place.pitch = pitch;
  place.left = margins(skin).x;
  place.head = margins(skin).y;
  place.top = view.layout.top;
  place.chip = pitch.x - clamped(pitch.x * 0.22F, skin.px(12), skin.px(28));
  return place;
}

// True for a press and release without a drag.
bool clicked_in_place(bool pressed) {
  const ImGuiIO& io = ImGui::GetIO();
  return pressed && io.MouseDragMaxDistanceSqr[0] < io.MouseDragThreshold * io.MouseDragThreshold;
}

}  // namespace

void draw_tree_legend(const Skin& skin) {
  const auto box = [&](HypothesisState state) {
    return
        [&skin, state](Painter& paint, ImVec2 low, ImVec2 high) { draw_box(paint, low, high, {.state = state}, skin); };
  };
  const auto stroke = [&](Color32 color) {
    return [&skin, color](Painter& paint, ImVec2 low, ImVec2 high) {
      const float middle = (low.y + high.y) * 0.5F;
      paint.line({low.x, middle}, {high.x, middle}, color, skin.px(2.6F));
    };
  };
  draw_legend_entry({tr("retained"), tr("Rounded: among the best of its step, so the search continues from it.")}, skin,
                    box(HypothesisState::kept));
  draw_legend_entry(
      {tr("pruned"), tr("Hatched: considered and dropped, because the beam was full of better hypotheses.")}, skin,
      box(HypothesisState::pruned));
  draw_legend_entry(
      {tr("finished"), tr("Green, with a bar at its end: ended with </s> while among the best of its step.")}, skin,
      box(HypothesisState::finished));
  draw_legend_entry({tr("best"), tr("The hypothesis with the best score, which beam search returns.")}, skin,
                    stroke(skin.theme.accent));
  draw_legend_entry(
      {tr("selected"), tr("The hypothesis whose text and attention are shown below. Click a node to select it.")}, skin,
      stroke(skin.theme.warning));
}

float tree_canvas_height(const TreeView& view, float most, const Skin& skin) {
  return std::min(most,
                  content_size(view.layout, {0, skin.px(largest_row_pitch)}, skin).y + ImGui::GetStyle().ScrollbarSize);
}

TreeCanvasResult draw_tree_canvas(const std::vector<BeamNode>& tree, std::span<const int> marked, TreeView& view,
                                  ImVec2 size, const Skin& skin) {
  const ImVec2 pitch = view.zoom == TreeZoom::own ? view.pitch : fitted_pitch(view.layout, view.zoom, size, skin);
  ImGui::PushStyleColor(ImGuiCol_ChildBg, skin.theme.background);
  ImGui::BeginChild(
      "canvas", size, false,
      ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_NoScrollWithMouse | view_flags());
  ImGui::PopStyleColor();
  const Placement place = place_tree(view, pitch, skin);
  ImGui::SetCursorScreenPos(place.low);
  const bool pressed = ImGui::InvisibleButton(
      "tree", {std::max(1.0F, place.high.x - place.low.x), std::max(1.0F, place.high.y - place.low.y)});
  const bool hovered = ImGui::IsItemHovered();
  const bool active = ImGui::IsItemActive();
  Canvas canvas(tree, marked, view, place, skin);
  TreeCanvasResult result;
  if (hovered) result.hovered = canvas.node_at(ImGui::GetIO().MousePos);
  if (clicked_in_place(pressed)) result.clicked = result.hovered;
  canvas.draw(result.hovered);
  handle_mouse(place, hovered, active, view, skin);
  ImGui::EndChild();
  return result;
}

}  // namespace attnscope
