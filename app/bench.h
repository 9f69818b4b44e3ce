// What the bench command measures, and how it says so.
#pragma once

#include <string>
#include <vector>

namespace attnscope {

struct Measurement {
  std::string name;
  double value = 0;
  std::string unit;
};

// The middle one, and the one that `share` of them do not exceed; values must not be empty.
double median(std::vector<double> values);
double quantile(std::vector<double> values, double share);

// Frames of the whole window drawn offscreen, idle and while a session trains; from a key typed to its attention on the
// screen; the longest the window waited for the worker. `run` is the run trained meanwhile.
std::vector<Measurement> measure_window(const std::string& run);  // only with the window

}  // namespace attnscope
