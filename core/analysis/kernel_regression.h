// Nadaraya and Watson's regression: a value at x is the mean of the known ones, each weighted by how near its key is.
// Attention before it had the name (d2l's chapter on attention pooling): x is the query, x_i a key, y_i its value.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plain/matrix.h"

namespace attnscope {

struct KeyedValues {
  std::vector<double> keys;    // x_i
  std::vector<double> values;  // y_i
  std::size_t size() const { return keys.size(); }
  bool operator==(const KeyedValues&) const = default;
};

inline constexpr double last_key = 5;  // keys lie in [0, last_key]

// What the values are without noise: 2 sin x + x.
double clean_value(double x);

// `count` keys, uniform and in order, with values clean_value(x_i) + N(0, noise²).
KeyedValues sample_values(int count, double noise, std::uint64_t seed);

// Where the curve is drawn: 0, 0.1 … 4.9.
std::vector<double> regression_queries();

// ---- kernels

enum class Kernel { constant, boxcar, gaussian, epanechikov, triangle };

struct KernelText {
  const char* title;
  const char* formula;  // of u = (x − x_i)/h
  const char* help;
};

// In the order of Kernel.
std::span<const KernelText> kernel_texts();

double kernel_value(Kernel kernel, double u);

// ---- the fit

// A row a query.
struct KernelFit {
  std::vector<double> queries;
  Matrix weights;                 // queries × keys: K(u_i) / Σ_j K(u_j); all 0 where no key is within reach
  std::vector<double> estimates;  // Σ w_i y_i; not a number where no key is within reach
  // What is expected of the estimate over all draws of the noise, keys as they are.
  std::vector<double> bias;       // Σ w_i clean(x_i) − clean(x)
  std::vector<double> deviation;  // √(σ² Σ w_i²)
};

// width h > 0; the constant kernel does not look at it.
KernelFit kernel_fit(const KeyedValues& known, std::span<const double> queries, Kernel kernel, double width,
                     double noise);

// Means over the queries that have an estimate; not a number when none has one.
struct FitError {
  double clean = 0;         // (estimate − clean)², of these very values
  double squared_bias = 0;  // what is expected of it: squared_bias + variance
  double variance = 0;
  std::size_t without = 0;  // queries with no key within reach
};

FitError fit_error(const KernelFit& fit);

// Mean of (y_i − what the other values say at x_i)², over the keys that others reach; not a number when none is.
double left_out_error(const KeyedValues& known, Kernel kernel, double width);

}  // namespace attnscope
