#include "widgets/marks.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace attnscope {

void draw_mark(Painter& paint, ImVec2 at, float radius, Color32 color, const Skin& skin) {
  constexpr Color32 opaque = 0xFF000000;
  const auto& series = skin.theme.series;
  const auto found = std::ranges::find(series, color | opaque, [](Color32 each) { return each | opaque; });
  const float r = radius, line = std::max(1.0F, radius * 0.45F);
  const auto closed = [&](std::initializer_list<ImVec2> corners) {
    std::vector<ImVec2> points;
    for (const ImVec2 corner : corners) points.push_back({at.x + corner.x * r, at.y + corner.y * r});
    points.push_back(points.front());
    paint.polyline(points, color, line);
  };
  const ImVec2 low{at.x - r, at.y - r}, high{at.x + r, at.y + r};
  switch (found - series.begin()) {
    case 1:
      return paint.filled_rect(low, high, color);
    case 2:
      return closed({{0, -1.2F}, {1.1F, 0.8F}, {-1.1F, 0.8F}});
    case 3:
      paint.line(low, high, color, line);
      return paint.line({low.x, high.y}, {high.x, low.y}, color, line);
    case 4:
      return closed({{0, -1.3F}, {1.3F, 0}, {0, 1.3F}, {-1.3F, 0}});
    case 5:
      paint.line({low.x, at.y}, {high.x, at.y}, color, line);
      return paint.line({at.x, low.y}, {at.x, high.y}, color, line);
    case 6:
      return paint.rect(low, high, color, 0, line);
    default:
      return paint.filled_circle(at, r, color, 10);
  }
}

}  // namespace attnscope
