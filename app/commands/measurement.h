// Results of the bench command, and statistics.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace attnscope {

struct Measurement {
  std::string name;
  double value = 0;
  std::string unit;
};

// The median, and the quantile at `share`; values must not be empty.
double median(std::vector<double> values);
double quantile(std::vector<double> values, double share);

// Appends the median, the 95th and the 99th percentile, in milliseconds.
void add_percentiles(const std::string& name, const std::vector<double>& values, std::vector<Measurement>& out);

double thread_milliseconds();  // processor time of this thread

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

template <typename Work>
double milliseconds(Work&& work) {
  const auto begin = Clock::now();
  work();
  return milliseconds_since(begin);
}

// A field of /proc/self/status, in MB; 0 if unavailable.
double status_megabytes(const std::string& field);
// Resets the peak resident set size, VmHWM.
void forget_peak();

}  // namespace attnscope
