#include "messages/gradients.h"

#include <cmath>

namespace attnscope {

double StackGradients::of_layer(int row) const {
  double sum = 0;
  for (int col = 0; col < norms.cols; ++col) sum += std::pow(static_cast<double>(norms.at(row, col)), 2);
  return std::sqrt(sum);
}

}  // namespace attnscope
