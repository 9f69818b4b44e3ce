#pragma once

#include <optional>
#include <span>

namespace attnscope {

// y ≈ factor · x^exponent, as in scaling laws (Kaplan et al. 2020, arXiv 2001.08361).
struct PowerFit {
  double factor = 0;
  double exponent = 0;
  double error = 0;  // standard error of the exponent
  double r2 = 0;  // of the logarithms: 1 if all points are on the line, 0 if the line explains nothing
};

// Least squares of the logarithms. Empty with fewer than three different x, or a value that is not positive.
std::optional<PowerFit> power_fit(std::span<const double> x, std::span<const double> y);

}  // namespace attnscope
