// What was painted, as shapes instead of pixels: what a vector picture is made of.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/color_map.h"

namespace attnscope {

// A rectangle of the screen, in pixels.
struct PictureArea {
  ImVec2 low;   // top left corner
  ImVec2 high;  // bottom right corner
};

// Coordinates are the screen's, exactly where the ink lies: ImDrawList's half pixels are already in them.

struct DrawnLine {
  std::vector<ImVec2> points;
  Color32 color = 0;
  float thickness = 1;
};

struct DrawnRect {
  ImVec2 low, high;
  Color32 color = 0;
  float rounding = 0;
  float thickness = 0;  // of the outline; 0: filled
};

struct DrawnGradient {
  ImVec2 low, high;
  std::vector<Color32> stops;  // at equal distances, from the left edge to the right one
  bool upright = false;        // from the bottom to the top instead
};

struct DrawnCircle {
  ImVec2 center;
  float radius = 0;
  Color32 color = 0;
};

enum class Typeface { ui, bold, mono };

struct DrawnText {
  std::string text;
  Typeface face = Typeface::ui;
  std::string family;  // that it was drawn in; empty: unknown
  float em = 0;        // size as typography counts it
  ImVec2 baseline;     // where its left end stands before it is turned
  ImVec2 extent;       // width and height
  float ascent = 0;
  ImVec2 pivot;       // turned about this point
  float degrees = 0;  // anticlockwise
  Color32 color = 0;
};

struct DrawnPolygon {
  std::vector<ImVec2> points;  // convex
  Color32 color = 0;
};

// Equal cells, as a matrix is shown.
struct DrawnCells {
  ImVec2 low, high;
  int cols = 0;
  int rows = 0;
  std::vector<Color32> colors;  // rows × cols
};

using Shape = std::variant<DrawnLine, DrawnRect, DrawnGradient, DrawnCircle, DrawnText, DrawnCells, DrawnPolygon>;

// `at` turned about `pivot`, anticlockwise.
ImVec2 turned(ImVec2 at, ImVec2 pivot, float degrees);

// The smallest rectangle around its ink.
PictureArea bounds(const Shape& shape);

// What both have; none when that is nothing.
std::optional<PictureArea> common_area(const PictureArea& a, const PictureArea& b);

// The vertices that a shape became in a draw list; the list is only ever compared.
struct Vertices {
  const ImDrawList* list = nullptr;
  int first = 0;
  int end = 0;
};

struct Drawn {
  Shape shape;
  PictureArea clip;  // nothing of it is seen outside
  Vertices vertices = {};
};

struct Capture {
  PictureArea area;
  std::vector<Drawn> shapes;  // in the order in which they were painted

  void add(const Drawn& drawn);
};

// Collects what is painted between begin and end, which both come between two frames. While none is being collected
// nothing is kept.
class PictureRecorder {
 public:
  // Starts anew with what is painted inside `area` from now on.
  void begin(PictureArea area);

  bool active() const { return capture_.has_value(); }

  // Keeps the shape if some of it is seen. Call only while active.
  void record(Shape shape, PictureArea clip, Vertices vertices = {});

  // What was collected; nothing when it was not active.
  Capture end();

 private:
  std::optional<Capture> capture_;
};

}  // namespace attnscope
