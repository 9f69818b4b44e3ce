#include "commands/measurement.h"

#include <algorithm>
#include <utility>

namespace attnscope {

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto index = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  return values[index];
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

}  // namespace attnscope
