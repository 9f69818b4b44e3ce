#include "messages/tensor_spread.h"

#include <fmt/format.h>

#include "common/mark.h"

namespace attnscope {
namespace {

constexpr double large_change = 0.1;  // relative to the weights, per step

}  // namespace

double newest_change(const TensorHistory& history) {
  return history.last_update > 0 ? history.last_update : history.points.back().change;
}

std::vector<std::string> findings(const TensorsResult& inspection) {
  std::vector<std::string> broken, broken_gradients, silent, large;
  const auto not_finite = [](std::vector<std::string>& list, const std::string& what, const TensorSpread& spread) {
    if (spread.not_finite > 0)
      list.push_back(fmt::format("{}: {:.1f} % NaN or infinite", what, 100 * spread.not_finite));
  };
  for (const auto* histories : {&inspection.parameters, &inspection.activations}) {
    for (const TensorHistory& history : *histories) {
      if (history.points.empty()) continue;
      const TensorPoint& point = history.points.back();
      not_finite(broken, history.name, point.values);
      not_finite(broken_gradients, "gradient of " + history.name, point.gradient);
      if (point.gradient.count > 0 && point.gradient.zeros == 1)
        silent.push_back(
            fmt::format(mark("gradient of {}: 0 everywhere, so this tensor is not trained"), history.name));
      // In a short sentence most units of a healthy layer are silent: only a fully silent layer is a problem.
      if (histories == &inspection.activations && point.values.silent == 1)
        silent.push_back(fmt::format(mark("{}: 0 for every token"), history.name));
      // Biases are initialized to zero, so their first steps are large relative to them.
      const double change = newest_change(history);
      if (history.shape.size() < 2 || change <= large_change) continue;
      large.push_back(history.last_update > 0
                          ? fmt::format(mark("{}: one step changes it by {:.0f} %"), history.name, 100 * change)
                          : fmt::format(mark("{}: between two recorded steps it moves by {:.0f} % per step"),
                                        history.name, 100 * change));
    }
  }
  for (const auto* list : {&broken_gradients, &silent, &large}) broken.insert(broken.end(), list->begin(), list->end());
  return broken;
}

}  // namespace attnscope
