// What our pictures are drawn with: everything goes to Dear ImGui's draw list of the present window, and, while a
// picture is being taken (Skin::recorder), to its recorder as well. So a picture that is saved holds what is seen.
#pragma once

#include <imgui.h>

#include <span>
#include <string_view>

#include "base/skin.h"
#include "base/textures.h"
#include "widgets/capture.h"

namespace attnscope {

enum class Joints {
  mitred,
  apart,  // every segment by itself: a mitre comes apart where noise turns the line back on itself
};

// One line of text whose top left corner is there, as a shape.
DrawnText drawn_text(const ImFont* font, ImVec2 position, Color32 color, std::string_view text, const Skin& skin);

class Painter {
 public:
  // Paints in the window that is open now; for use until its end.
  explicit Painter(const Skin& skin);

  void line(ImVec2 from, ImVec2 to, Color32 color, float thickness = 1);
  void polyline(std::span<const ImVec2> points, Color32 color, float thickness, Joints joints = Joints::mitred);
  void rect(ImVec2 low, ImVec2 high, Color32 color, float rounding = 0, float thickness = 1);
  void filled_rect(ImVec2 low, ImVec2 high, Color32 color, float rounding = 0);
  void filled_circle(ImVec2 center, float radius, Color32 color, int segments = 0);

  // Many dots of one size, a colour each, in one batch: round ones, or little squares where there are very many.
  void dots(std::span<const ImVec2> centers, std::span<const Color32> colors, float radius);

  // Through two colours or more at equal distances: from left to right, or upright, from the bottom to the top.
  void gradient(ImVec2 low, ImVec2 high, std::span<const Color32> stops, bool upright);

  // One line with its top left corner at `position`, in one of the look's fonts.
  void text(ImFont* font, ImVec2 position, Color32 color, std::string_view text);

  // Turned anticlockwise about its left middle, which stands at `anchor`.
  void slanted_text(ImFont* font, ImVec2 anchor, float degrees, Color32 color, std::string_view text);

  // A picture of cols × rows cells; `fill` gives their colours, as it gave them to the texture.
  void cells(const TexturePart& part, ImVec2 low, ImVec2 high, int cols, int rows, const TextureStore::Fill& fill);

  // Clip rectangles lie within one another.
  void push_clip(ImVec2 low, ImVec2 high);
  void pop_clip();

 private:
  // Begins a shape with so many corners at most; false if it has no room. A window's corners are counted with 16 bits,
  // and anew only where the driver can (OpenGL 3.2): elsewhere what has no room is left out.
  bool begin(std::size_t corners);
  bool recording() const { return skin_.recorder && skin_.recorder->active(); }
  void record(Shape shape);
  void record_text(ImFont* font, ImVec2 position, Color32 color, std::string_view text, ImVec2 pivot, float degrees);

  const Skin& skin_;
  ImDrawList& list_;
  int first_ = 0;  // vertex of the shape
};

// Slanted lines `gap` apart, inside the rectangle: what is masked, cut away or pruned.
void draw_hatching(Painter& paint, ImVec2 low, ImVec2 high, Color32 color, float gap);

}  // namespace attnscope
