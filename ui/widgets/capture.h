// Painted content as vector shapes instead of pixels, for export as a vector picture.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/color_map.h"

namespace attnscope {

// A rectangle of the screen, in pixels.
struct PictureArea {
  ImVec2 low;   // top left corner
  ImVec2 high;  // bottom right corner
};

// Coordinates are screen coordinates of the ink itself; ImDrawList's half-pixel offsets are already included.

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
  std::vector<Color32> stops;  // equally spaced, from the left edge to the right
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
  std::string family;  // font family; empty: unknown
  float em = 0;        // em size, in pixels
  ImVec2 baseline;     // left end of the baseline before rotation
  ImVec2 extent;       // width and height
  float ascent = 0;
  ImVec2 pivot;       // center of rotation
  float degrees = 0;  // counterclockwise
  Color32 color = 0;
};

struct DrawnPolygon {
  std::vector<ImVec2> points;  // convex
  Color32 color = 0;
};

// A grid of equal cells, as for a matrix.
struct DrawnCells {
  ImVec2 low, high;
  int cols = 0;
  int rows = 0;
  std::vector<Color32> colors;  // rows × cols
};

using Shape = std::variant<DrawnLine, DrawnRect, DrawnGradient, DrawnCircle, DrawnText, DrawnCells, DrawnPolygon>;

// Rotates `at` about `pivot`, counterclockwise.
ImVec2 turned(ImVec2 at, ImVec2 pivot, float degrees);

// The bounding box of the shape's ink.
PictureArea bounds(const Shape& shape);

// The intersection; nullopt if it is empty.
std::optional<PictureArea> common_area(const PictureArea& a, const PictureArea& b);

// The vertices of a shape in a draw list. The list pointer is only compared, never dereferenced.
struct Vertices {
  const ImDrawList* list = nullptr;
  int first = 0;
  int end = 0;
};

struct Drawn {
  Shape shape;
  PictureArea clip;  // clip rectangle of the shape
  Vertices vertices = {};
};

struct Capture {
  PictureArea area;
  std::vector<Drawn> shapes;  // in painting order

  void add(const Drawn& drawn);
};

// Records what is painted between begin and end, which are both called between two frames. Records nothing while
// inactive.
class PictureRecorder {
 public:
  // Clears the recorder and starts recording what is painted inside `area`.
  void begin(PictureArea area);

  bool active() const { return capture_.has_value(); }

  // Records the shape if part of it is visible. Call only while active.
  void record(Shape shape, PictureArea clip, Vertices vertices = {});

  // Returns the recorded shapes; empty if recording was not active.
  Capture end();

 private:
  std::optional<Capture> capture_;
};

}  // namespace attnscope
