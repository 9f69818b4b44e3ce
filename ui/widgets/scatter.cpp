#include "widgets/scatter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "common/clamped.h"
#include "widgets/heatmap.h"
#include "widgets/marks.h"
#include "widgets/painter.h"

namespace attnscope {
namespace {

constexpr std::size_t most_labels = 90;
constexpr std::size_t most_tried = 600;
constexpr float reach = 9;      // hover radius in pixels at scale 1
constexpr float closest = 200;  // maximum zoom relative to the view of all points

bool is_number(ImVec2 at) {
  return std::isfinite(at.x) && std::isfinite(at.y);
}

bool contains(const ScatterFrame& frame, ImVec2 at, float margin) {
  return at.x >= frame.low.x - margin && at.x <= frame.high.x + margin && at.y >= frame.low.y - margin &&
         at.y <= frame.high.y + margin;
}

class ScatterCanvas {
 public:
  ScatterCanvas(const ScatterOptions& options, const ScatterFrame& frame, const Skin& skin)
      : options_(options), frame_(frame), skin_(skin), paint_(skin), radius_(skin.px(options.radius)) {}

  // The point closest to the mouse within reach; −1: none.
  int pointed(ImVec2 mouse) const {
    int nearest = -1;
    float least = skin_.px(reach) * skin_.px(reach);
    for (std::size_t i = 0; i < options_.points.size(); ++i) {
      const ImVec2 at = frame_.at(options_.points[i]);
      const float away = (at.x - mouse.x) * (at.x - mouse.x) + (at.y - mouse.y) * (at.y - mouse.y);
      if (away < least) {  // false for NaN
        least = away;
        nearest = static_cast<int>(i);
      }
    }
    return nearest;
  }

  void draw(int hovered) {
    const Theme& theme = skin_.theme;
    paint_.filled_rect(frame_.low, frame_.high, theme.background, skin_.px(3));
    paint_.push_clip(frame_.low, frame_.high);
    draw_points();
    if (options_.under) options_.under(paint_, frame_);
    draw_marked(hovered);
    draw_axes();
    draw_labels(hovered);
    paint_.pop_clip();
  }

 private:
  ImVec2 at(int point) const { return frame_.at(options_.points[static_cast<std::size_t>(point)]); }
  bool is_seen(int point) const { return is_number(at(point)) && contains(frame_, at(point), 0); }

  void draw_points() {
    std::vector<ImVec2> centers;
    std::vector<Color32> colors;
    centers.reserve(options_.points.size());
    colors.reserve(options_.points.size());
    for (std::size_t i = 0; i < options_.points.size(); ++i) {
      const ImVec2 center = frame_.at(options_.points[i]);
      if (!is_number(center) || !contains(frame_, center, radius_)) continue;
      centers.push_back(center);
      colors.push_back(options_.colors[i]);
    }
    if (centers.size() > 4000) return paint_.dots(centers, colors, std::max(1.0F, radius_ * 0.45F));
    for (std::size_t i = 0; i < centers.size(); ++i) draw_mark(paint_, centers[i], radius_, colors[i], skin_);
  }

  void draw_marked(int hovered) {
    const auto ring = [&](int point, float larger, Color32 color) {
      if (!is_seen(point)) return;
      paint_.filled_circle(at(point), radius_ + skin_.px(larger), color);
      paint_.filled_circle(at(point), radius_ + skin_.px(larger - 1.5F),
                           options_.colors[static_cast<std::size_t>(point)]);
    };
    for (const int point : options_.marked) ring(point, 3, skin_.theme.text);
    if (hovered >= 0) ring(hovered, 3, skin_.theme.accent);
  }

  void draw_axes() {
    ImFont* font = skin_.fonts.small;
    const float line = font_size(font), gap = skin_.px(6);
    if (!options_.x_axis.empty()) {
      const float width = text_size(font, options_.x_axis).x;
      const ImVec2 corner{frame_.high.x - gap - width, frame_.high.y - gap - line};
      paint_.text(font, corner, skin_.theme.text_dim, options_.x_axis);
      taken_.push_back({corner, {width, line}});
    }
    if (!options_.y_axis.empty()) {
      const ImVec2 corner{frame_.low.x + gap, frame_.low.y + gap};
      paint_.text(font, corner, skin_.theme.text_dim, options_.y_axis);
      taken_.push_back({corner, text_size(font, options_.y_axis)});
    }
  }

  void draw_labels(int hovered) {
    if (!options_.label) return;
    LabelPlaces places(frame_.low, frame_.high);
    for (const auto& [corner, size] : taken_) places.take(corner, size);
    for (const int point : options_.marked)
      if (is_seen(point)) places.take({at(point).x - radius_, at(point).y - radius_}, {2 * radius_, 2 * radius_});
    if (hovered >= 0) draw_label(places, hovered, skin_.theme.text, skin_.fonts.mono, 5);
    for (const int point : options_.marked)
      if (point != hovered) draw_label(places, point, skin_.theme.text, skin_.fonts.mono, 5);
    std::size_t tried = 0, drawn = 0;
    for (const int point : options_.important) {
      if (tried == most_tried || drawn == most_labels) return;
      if (point == hovered || !is_seen(point)) continue;
      if (std::ranges::find(options_.marked, point) != options_.marked.end()) continue;
      ++tried;
      if (draw_label(places, point, skin_.theme.text_dim, skin_.fonts.mono_small, 2)) ++drawn;
    }
  }

  bool draw_label(LabelPlaces& places, int point, Color32 color, ImFont* font, float gap) {
    if (!is_seen(point)) return false;
    const std::string text = options_.label(point);
    const ImVec2 size = text_size(font, text);
    const std::optional<ImVec2> corner = places.place(at(point), radius_ + skin_.px(gap), size);
    if (!corner) return false;
    // Covers the points behind the label.
    paint_.filled_rect(*corner, {corner->x + size.x, corner->y + size.y}, faded(skin_.theme.background, 0.6F),
                       skin_.px(2));
    paint_.text(font, *corner, color, text);
    return true;
  }

  const ScatterOptions& options_;
  const ScatterFrame& frame_;
  const Skin& skin_;
  Painter paint_;
  float radius_;
  std::vector<std::pair<ImVec2, ImVec2>> taken_;  // corner and size of the occupied rectangles
};

// Applies wheel and drag to the last item.
void move_window(ScatterView& view, const ScatterFrame& frame, float fitted_scale) {
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 middle{(frame.low.x + frame.high.x) / 2, (frame.low.y + frame.high.y) / 2};
  if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
    const float scale =
        clamped(frame.window.scale * std::pow(1.2F, io.MouseWheel), fitted_scale * 0.5F, fitted_scale * closest);
    view.window =
        zoomed(frame.window, {io.MousePos.x - middle.x, io.MousePos.y - middle.y}, scale / frame.window.scale);
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
    if (!view.window) view.window = frame.window;
    view.window->center.x -= io.MouseDelta.x / view.window->scale;
    view.window->center.y += io.MouseDelta.y / view.window->scale;
  }
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) view.window.reset();
}

}  // namespace

ScatterWindow fitted_window(std::span<const ImVec2> points, ImVec2 size, float margin) {
  ImVec2 low{INFINITY, INFINITY}, high{-INFINITY, -INFINITY};
  for (const ImVec2 at : points) {
    if (!is_number(at)) continue;
    low = {std::min(low.x, at.x), std::min(low.y, at.y)};
    high = {std::max(high.x, at.x), std::max(high.y, at.y)};
  }
  if (low.x > high.x) return {{0, 0}, 1};
  const ImVec2 extent{std::max(high.x - low.x, 1e-6F), std::max(high.y - low.y, 1e-6F)};
  const float scale =
      std::min(std::max(1.0F, size.x - 2 * margin) / extent.x, std::max(1.0F, size.y - 2 * margin) / extent.y);
  return {{(low.x + high.x) / 2, (low.y + high.y) / 2}, std::min(scale, 1e6F)};
}

ScatterWindow zoomed(const ScatterWindow& window, ImVec2 fixed, float factor) {
  const float away = 1 / window.scale - 1 / (window.scale * factor);
  return {{window.center.x + fixed.x * away, window.center.y - fixed.y * away}, window.scale * factor};
}

ScatterResult draw_scatter(const char* id, const ScatterOptions& options, ScatterView& view, ImVec2 size,
                           const Skin& skin) {
  size = room_for(size);
  size = {std::max(size.x, 1.0F), std::max(size.y, 1.0F)};
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ScatterWindow fitted = fitted_window(options.points, size, skin.px(34));
  const ScatterFrame frame{low, {low.x + size.x, low.y + size.y}, view.window.value_or(fitted)};
  ImGui::InvisibleButton(id, size);
  move_window(view, frame, fitted.scale);
  ScatterCanvas canvas(options, frame, skin);
  ScatterResult result;
  const ImGuiIO& io = ImGui::GetIO();
  if (options.pointable && ImGui::IsItemHovered()) result.hovered = canvas.pointed(io.MousePos);
  const ImVec2 dragged = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
  const bool still = std::abs(dragged.x) + std::abs(dragged.y) < skin.px(4);
  if (ImGui::IsItemDeactivated() && ImGui::IsItemHovered() && still) result.clicked = result.hovered;
  canvas.draw(result.hovered);
  if (result.hovered >= 0 && options.tooltip) {
    ImGui::BeginTooltip();
    options.tooltip(result.hovered);
    ImGui::EndTooltip();
  }
  return result;
}

// ---- labels

bool LabelPlaces::is_free(const Box& box) const {
  if (box.low.x < low_.x || box.low.y < low_.y || box.high.x > high_.x || box.high.y > high_.y) return false;
  return std::ranges::none_of(taken_, [&](const Box& other) {
    return box.low.x < other.high.x && other.low.x < box.high.x && box.low.y < other.high.y && other.low.y < box.high.y;
  });
}

void LabelPlaces::take(ImVec2 corner, ImVec2 size) {
  taken_.push_back({corner, {corner.x + size.x, corner.y + size.y}});
}

std::optional<ImVec2> LabelPlaces::place(ImVec2 dot, float radius, ImVec2 size) {
  const std::array corners = {
      ImVec2{dot.x + radius, dot.y - size.y / 2},
      ImVec2{dot.x - radius - size.x, dot.y - size.y / 2},
      ImVec2{dot.x - size.x / 2, dot.y - radius - size.y},
      ImVec2{dot.x - size.x / 2, dot.y + radius},
  };
  for (const ImVec2 corner : corners) {
    if (!is_free({corner, {corner.x + size.x, corner.y + size.y}})) continue;
    take(corner, size);
    return corner;
  }
  return std::nullopt;
}

}  // namespace attnscope
