#include "commands/measurement.h"

#include <algorithm>
#include <fstream>
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

double status_megabytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != field) continue;
    double kibibytes = 0;
    status >> kibibytes;
    return kibibytes / 1024;
  }
  return 0;
}

void forget_peak() {
  std::ofstream("/proc/self/clear_refs") << 5;  // proc(5)
}

}  // namespace attnscope
