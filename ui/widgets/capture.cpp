#include "widgets/capture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

namespace attnscope {
namespace {

bool is_finite(ImVec2 at) {
  return std::isfinite(at.x) && std::isfinite(at.y);
}

// The bounding box of the points. If a point is not finite, the box contains only that point.
PictureArea around(std::span<const ImVec2> points, float margin) {
  PictureArea area{points.front(), points.front()};
  for (const ImVec2 at : points) {
    if (!is_finite(at)) return {at, at};
    area.low = {std::min(area.low.x, at.x), std::min(area.low.y, at.y)};
    area.high = {std::max(area.high.x, at.x), std::max(area.high.y, at.y)};
  }
  return {{area.low.x - margin, area.low.y - margin}, {area.high.x + margin, area.high.y + margin}};
}

struct Bounds {
  PictureArea operator()(const DrawnLine& line) const { return around(line.points, line.thickness / 2); }
  PictureArea operator()(const DrawnRect& rect) const {
    return around(std::array{rect.low, rect.high}, rect.thickness / 2);
  }
  PictureArea operator()(const DrawnGradient& gradient) const { return {gradient.low, gradient.high}; }
  PictureArea operator()(const DrawnCells& cells) const { return {cells.low, cells.high}; }
  PictureArea operator()(const DrawnCircle& circle) const { return around(std::array{circle.center}, circle.radius); }
  PictureArea operator()(const DrawnPolygon& polygon) const { return around(polygon.points, 0); }
  PictureArea operator()(const DrawnText& text) const {
    const ImVec2 low{text.baseline.x, text.baseline.y - text.ascent};
    const ImVec2 high{low.x + text.extent.x, low.y + text.extent.y};
    std::array corners{low, ImVec2{high.x, low.y}, high, ImVec2{low.x, high.y}};
    for (ImVec2& corner : corners) corner = turned(corner, text.pivot, text.degrees);
    return around(corners, 0);
  }
};

}  // namespace

ImVec2 turned(ImVec2 at, ImVec2 pivot, float degrees) {
  const float angle = -degrees * std::numbers::pi_v<float> / 180;
  const float cosine = std::cos(angle);
  const float sine = std::sin(angle);
  const ImVec2 from{at.x - pivot.x, at.y - pivot.y};
  return {pivot.x + from.x * cosine - from.y * sine, pivot.y + from.x * sine + from.y * cosine};
}

PictureArea bounds(const Shape& shape) {
  return std::visit(Bounds{}, shape);
}

std::optional<PictureArea> common_area(const PictureArea& a, const PictureArea& b) {
  const PictureArea both{{std::max(a.low.x, b.low.x), std::max(a.low.y, b.low.y)},
                         {std::min(a.high.x, b.high.x), std::min(a.high.y, b.high.y)}};
  if (!(both.low.x < both.high.x) || !(both.low.y < both.high.y)) return std::nullopt;
  return both;
}

void Capture::add(const Drawn& drawn) {
  shapes.push_back(drawn);
}

void PictureRecorder::begin(PictureArea area) {
  capture_ = Capture{area, {}};
}

void PictureRecorder::record(Shape shape, PictureArea clip, Vertices vertices) {
  const PictureArea ink = bounds(shape);
  const std::optional<PictureArea> seen = common_area(clip, capture_->area);
  if (!is_finite(ink.low) || !is_finite(ink.high) || !seen || !common_area(ink, *seen)) return;
  capture_->shapes.push_back({std::move(shape), clip, vertices});
}

Capture PictureRecorder::end() {
  return std::exchange(capture_, std::nullopt).value_or(Capture{});
}

}  // namespace attnscope
