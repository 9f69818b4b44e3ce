// Drawing for pictures. Everything goes to the draw list of the current Dear ImGui window and, while a picture is
// exported (Skin::recorder), also to its recorder. An exported picture therefore contains what is on the screen.
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
  apart,  // each segment is drawn separately: mitered joints spike where noise reverses the line's direction
};

// Describes one line of text with its top left corner at `position` as a shape.
DrawnText drawn_text(const ImFont* font, ImVec2 position, Color32 color, std::string_view text, const Skin& skin);

class Painter {
 public:
  // Paints into the current window; valid until that window ends.
  explicit Painter(const Skin& skin);

  void line(ImVec2 from, ImVec2 to, Color32 color, float thickness = 1);
  void polyline(std::span<const ImVec2> points, Color32 color, float thickness, Joints joints = Joints::mitred);
  void rect(ImVec2 low, ImVec2 high, Color32 color, float rounding = 0, float thickness = 1);
  void filled_rect(ImVec2 low, ImVec2 high, Color32 color, float rounding = 0);
  void filled_circle(ImVec2 center, float radius, Color32 color, int segments = 0);

  // Draws many dots of one size, each with its own color, in one batch: circles, or small squares if there are very
  // many.
  void dots(std::span<const ImVec2> centers, std::span<const Color32> colors, float radius);

  // Interpolates between two or more equally spaced colors, from left to right, or if upright, from the bottom to the
  // top.
  void gradient(ImVec2 low, ImVec2 high, std::span<const Color32> stops, bool upright);

  // Draws one line of text with its top left corner at `position`, in one of the skin's fonts.
  void text(ImFont* font, ImVec2 position, Color32 color, std::string_view text);

  // Draws text rotated counterclockwise about the middle of its left edge, which is at `anchor`.
  void slanted_text(ImFont* font, ImVec2 anchor, float degrees, Color32 color, std::string_view text);

  // Draws a picture of cols × rows cells. `fill` must return the same colors as for the texture.
  void cells(const TexturePart& part, ImVec2 low, ImVec2 high, int cols, int rows, const TextureStore::Fill& fill);

  // Nested clip rectangles intersect.
  void push_clip(ImVec2 low, ImVec2 high);
  void pop_clip();

 private:
  // Starts a shape with at most that many vertices; returns false if there is no room. A window's vertices have 16-bit
  // indices, which restart only where the driver supports it (OpenGL 3.2). Without that, shapes that do not fit are
  // skipped.
  bool begin(std::size_t corners);
  bool recording() const { return skin_.recorder && skin_.recorder->active(); }
  void record(Shape shape);
  void record_text(ImFont* font, ImVec2 position, Color32 color, std::string_view text, ImVec2 pivot, float degrees);

  const Skin& skin_;
  ImDrawList& list_;
  int first_ = 0;  // first vertex of the shape
};

// Draws slanted lines `gap` apart inside the rectangle: marks masked, ablated or pruned areas.
void draw_hatching(Painter& paint, ImVec2 low, ImVec2 high, Color32 color, float gap);

}  // namespace attnscope
