#pragma once

#include <vector>

namespace attnscope {

// y over x; x ascending.
struct Series {
  std::vector<double> x;
  std::vector<double> y;
};

}  // namespace attnscope
