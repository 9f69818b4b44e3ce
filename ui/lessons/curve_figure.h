// Coordinates of a curve drawn as a prediction, on the screen and in handouts.
#pragma once

#include <string>
#include <vector>

#include "lessons/lesson.h"

namespace attnscope {

// A position in a figure, in pixels: right, and down.
struct FigurePoint {
  double x = 0, y = 0;
};

// The number at an axis tick, and the center of its label.
struct FigureTick {
  FigurePoint at;
  std::string text;
};

// The plot's rectangle within a figure, and its mapping.
struct CurveFigure {
  FigurePoint low, high;  // top left and bottom right corner
  const Prediction& prediction;

  // The position of the i-th point with that value.
  FigurePoint at(std::size_t i, double value) const;
  // The index closest to an x, and the value at a y.
  std::size_t index(double x) const;
  double value(double y) const;

  // Ticks of the x axis, `below` pixels under the plot; ticks of the minimum and maximum value, `beside` pixels left of
  // it.
  std::vector<FigureTick> places(double below) const;
  std::vector<FigureTick> values(double beside) const;
};

}  // namespace attnscope
