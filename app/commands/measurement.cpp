#include "commands/measurement.h"

#include <algorithm>
#include <ctime>
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

void add_percentiles(const std::string& name, const std::vector<double>& values, std::vector<Measurement>& out) {
  out.push_back({name + ", median", median(values), "ms"});
  out.push_back({name + ", 95th percentile", quantile(values, 0.95), "ms"});
  out.push_back({name + ", 99th percentile", quantile(values, 0.99), "ms"});
}

double thread_milliseconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
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
