// Nadaraya–Watson regression: the estimate at x is the mean of the known values, weighted by the closeness of their
// keys. A precursor of attention (d2l's chapter on attention pooling): x is the query, x_i a key, y_i its value.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/matrix.h"

namespace attnscope {

struct KeyedValues {
  std::vector<double> keys;    // x_i
  std::vector<double> values;  // y_i
  std::size_t size() const { return keys.size(); }
  bool operator==(const KeyedValues&) const = default;
};

inline constexpr double last_key = 5;  // keys lie in [0, last_key]

// The values without noise: 2 sin x + x.
double clean_value(double x);

// Returns `count` uniform keys in ascending order, with values clean_value(x_i) + N(0, noise²).
KeyedValues sample_values(int count, double noise, std::uint64_t seed);

// The points at which the curve is drawn: 0, 0.1 … 4.9.
std::vector<double> regression_queries();

// ---- kernels

enum class Kernel { constant, boxcar, gaussian, epanechikov, triangle };

struct KernelText {
  const char* title;
  const char* formula;  // in terms of u = (x − x_i)/h
  const char* help;
};

// In the order of Kernel.
std::span<const KernelText> kernel_texts();

double kernel_value(Kernel kernel, double u);

// ---- the fit

// One row per query.
struct KernelFit {
  std::vector<double> queries;
  Matrix weights;                 // queries × keys: K(u_i) / Σ_j K(u_j); all 0 if no key is within reach
  std::vector<double> estimates;  // Σ w_i y_i; NaN if no key is within reach
  // Expectations of the estimate over all draws of the noise, for fixed keys.
  std::vector<double> bias;       // Σ w_i clean(x_i) − clean(x)
  std::vector<double> deviation;  // √(σ² Σ w_i²)
};

// Requires width h > 0; the constant kernel ignores it.
KernelFit kernel_fit(const KeyedValues& known, std::span<const double> queries, Kernel kernel, double width,
                     double noise);

// Means over the queries that have an estimate; NaN if none has.
struct FitError {
  double clean = 0;         // (estimate − clean)², for these values
  double squared_bias = 0;  // expected error: squared_bias + variance
  double variance = 0;
  std::size_t without = 0;  // queries with no key within reach
};

FitError fit_error(const KernelFit& fit);

// Leave-one-out error: the mean of (y_i − the estimate at x_i from the other values)², over the keys within reach of
// others; NaN if there is none.
double left_out_error(const KeyedValues& known, Kernel kernel, double width);

}  // namespace attnscope
