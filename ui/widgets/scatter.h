// Points in the plane: maps of embeddings.
#pragma once

#include <imgui.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/skin.h"

namespace attnscope {

class Painter;

// What of the plane is seen. The same length on both axes is as long on the screen; y points up.
struct ScatterWindow {
  ImVec2 center;    // in the points' units
  float scale = 1;  // pixels a unit
};

// What it remembers from frame to frame.
struct ScatterView {
  std::optional<ScatterWindow> window;  // none: all points
};

// Where points stand on the screen in this frame.
struct ScatterFrame {
  ImVec2 low, high;
  ScatterWindow window;
  ImVec2 at(ImVec2 point) const {
    return {(low.x + high.x) / 2 + (point.x - window.center.x) * window.scale,
            (low.y + high.y) / 2 - (point.y - window.center.y) * window.scale};
  }
};

struct ScatterOptions {
  std::span<const ImVec2> points;                            // one that is no number is not drawn
  std::span<const Color32> colors;                           // as many
  std::function<std::string(int)> label;                     // of a point; empty: no labels
  std::span<const int> marked;                               // drawn larger and labelled first
  std::span<const int> important;                            // labelled where there is room, the first of them first
  std::function<void(int)> tooltip;                          // draws what it says of a point
  std::function<void(Painter&, const ScatterFrame&)> under;  // what is drawn between the points and their labels
  std::string_view x_axis, y_axis;
  float radius = 3;       // at scale 1
  bool pointable = true;  // points can be pointed at and clicked
};

struct ScatterResult {
  int hovered = -1;
  int clicked = -1;  // pressed and let go without a drag
};

// Fills `size` (as room_for has it). Wheel zooms at the cursor, drag pans, double-click shows everything again. Labels
// do not overlap; what has none shows it when it is pointed at.
ScatterResult draw_scatter(const char* id, const ScatterOptions& options, ScatterView& view, ImVec2 size,
                           const Skin& skin);

// The window in which all points are seen; around the origin where there are none.
ScatterWindow fitted_window(std::span<const ImVec2> points, ImVec2 size, float margin);

// The window with `fixed` (pixels from the middle, y down) staying in its place, `factor` times as large.
ScatterWindow zoomed(const ScatterWindow& window, ImVec2 fixed, float factor);

// Puts labels where there is room; each is asked for one of several places beside its point.
class LabelPlaces {
 public:
  LabelPlaces(ImVec2 low, ImVec2 high) : low_(low), high_(high) {}

  // Nothing is to stand there.
  void take(ImVec2 corner, ImVec2 size);

  // Top left corner of a label of that size beside a dot; none: it would lie over another, or leave the area.
  std::optional<ImVec2> place(ImVec2 dot, float radius, ImVec2 size);

 private:
  struct Box {
    ImVec2 low, high;
  };
  bool is_free(const Box& box) const;

  ImVec2 low_, high_;
  std::vector<Box> taken_;
};

}  // namespace attnscope
