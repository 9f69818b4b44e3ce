// One figure of the bench command, and what many values come to.
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

}  // namespace attnscope
