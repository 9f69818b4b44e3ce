// Where a curve that is drawn as a prediction stands, on the screen and on paper.
#pragma once

#include <string>
#include <vector>

#include "lessons/lesson.h"

namespace attnscope {

// A place in a figure, in its pixels: right, and down.
struct FigurePoint {
  double x = 0, y = 0;
};

// A number beneath the plot or beside it, and the middle of where it is written.
struct FigureTick {
  FigurePoint at;
  std::string text;
};

// The plot's rectangle within a figure, and what is the case there.
struct CurveFigure {
  FigurePoint low, high;  // its upper left and its lower right corner
  const Prediction& prediction;

  // Of the value at the i-th place.
  FigurePoint at(std::size_t i, double value) const;
  // The place nearest to an x, and the value of a y.
  std::size_t index(double x) const;
  double value(double y) const;

  // The places, `below` pixels beneath the plot; the least and the largest value, `beside` pixels from its left side.
  std::vector<FigureTick> places(double below) const;
  std::vector<FigureTick> values(double beside) const;
};

}  // namespace attnscope
