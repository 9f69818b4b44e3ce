// Scatter plots: maps of embeddings.
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

// The visible part of the plane. Both axes have the same scale; y points up.
struct ScatterWindow {
  ImVec2 center;    // in the points' units
  float scale = 1;  // pixels per unit
};

// State that persists between frames.
struct ScatterView {
  std::optional<ScatterWindow> window;  // nullopt: all points are visible
};

// The mapping of points to the screen in this frame.
struct ScatterFrame {
  ImVec2 low, high;
  ScatterWindow window;
  ImVec2 at(ImVec2 point) const {
    return {(low.x + high.x) / 2 + (point.x - window.center.x) * window.scale,
            (low.y + high.y) / 2 - (point.y - window.center.y) * window.scale};
  }
};

struct ScatterOptions {
  std::span<const ImVec2> points;                            // points with a NaN coordinate are not drawn
  std::span<const Color32> colors;                           // one per point
  std::function<std::string(int)> label;                     // label of a point; empty: no labels
  std::span<const int> marked;                               // drawn larger and labeled first
  std::span<const int> important;                            // labeled where there is room, in this order
  std::function<void(int)> tooltip;                          // draws the tooltip's contents for a point
  std::function<void(Painter&, const ScatterFrame&)> under;  // draws between the points and their labels
  std::string_view x_axis, y_axis;
  float radius = 3;       // at scale 1
  bool pointable = true;  // points can be hovered and clicked
};

struct ScatterResult {
  int hovered = -1;
  int clicked = -1;  // pressed and released without a drag
};

// Draws into `size` (see room_for). The wheel zooms at the cursor, a drag pans, a double-click resets. Labels do not
// overlap; a point without one shows it when hovered.
ScatterResult draw_scatter(const char* id, const ScatterOptions& options, ScatterView& view, ImVec2 size,
                           const Skin& skin);

// The window that contains all points; around the origin if there are none.
ScatterWindow fitted_window(std::span<const ImVec2> points, ImVec2 size, float margin);

// Zooms by `factor` about `fixed` (pixels from the center, y down).
ScatterWindow zoomed(const ScatterWindow& window, ImVec2 fixed, float factor);

// Places labels without overlap; tries several positions next to each point.
class LabelPlaces {
 public:
  LabelPlaces(ImVec2 low, ImVec2 high) : low_(low), high_(high) {}

  // Marks a rectangle as occupied.
  void take(ImVec2 corner, ImVec2 size);

  // Top left corner for a label of that size next to a dot; nullopt if it would overlap another or leave the area.
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
