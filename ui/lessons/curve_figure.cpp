#include "lessons/curve_figure.h"

#include <fmt/format.h>

#include <algorithm>

namespace attnscope {

FigurePoint CurveFigure::at(std::size_t i, double value) const {
  const double along = (static_cast<double>(i) + 0.5) / static_cast<double>(prediction.options.size());
  const double up = (value - prediction.from) / (prediction.to - prediction.from);
  return {low.x + along * (high.x - low.x), high.y - up * (high.y - low.y)};
}

std::size_t CurveFigure::index(double x) const {
  const auto count = static_cast<double>(prediction.options.size());
  return static_cast<std::size_t>(std::clamp((x - low.x) / (high.x - low.x) * count, 0.0, count - 1));
}

double CurveFigure::value(double y) const {
  const double up = std::clamp((high.y - y) / (high.y - low.y), 0.0, 1.0);
  return prediction.from + (prediction.to - prediction.from) * up;
}

std::vector<FigureTick> CurveFigure::places(double below) const {
  std::vector<FigureTick> ticks;
  for (std::size_t i = 0; i < prediction.options.size(); ++i)
    ticks.push_back({{at(i, 0).x, high.y + below}, fmt::format("{:g}", prediction.options[i].at)});
  return ticks;
}

std::vector<FigureTick> CurveFigure::values(double beside) const {
  std::vector<FigureTick> ticks;
  for (const double value : {prediction.from, prediction.to})
    ticks.push_back({{low.x + beside, at(0, value).y}, fmt::format("{:g}", value)});
  return ticks;
}

}  // namespace attnscope
