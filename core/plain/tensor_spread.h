// Any tensor of a model, seen from a distance: how its values are spread, and its gradient's, over the training.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

struct TensorsQuestion {
  std::string text;  // whose activations are asked for; empty: of none
  bool operator==(const TensorsQuestion&) const = default;
};

inline constexpr std::array<double, 7> spread_levels = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};

// Shares are of all values, quantiles of the finite ones.
struct TensorSpread {
  std::int64_t count = 0;                                // of values; 0: there is no such tensor
  double norm = 0;                                       // Euclidean
  double mean = 0;                                       // of the finite ones
  std::array<double, spread_levels.size()> quantiles{};  // at spread_levels: the least value first, the largest last
  double zeros = 0;                                      // share that is exactly 0
  double not_finite = 0;                                 // share that is NaN or infinite
  double silent = 0;                                     // share of the columns that are 0 in every row
  std::vector<float> histogram = {};                     // counts in as many equal bins from the least to the largest
  double least() const { return quantiles.front(); }
  double largest() const { return quantiles.back(); }
};

struct TensorPoint {
  std::int64_t step = 0;
  TensorSpread values;
  TensorSpread gradient = {};  // of the loss of one batch of the validation part; none of an activation
  double change = 0;           // ‖Δw‖ / ‖w‖ an update, since the point before; of the first point 0
};

struct TensorHistory {
  std::string name;  // as the model has it
  std::vector<std::int64_t> shape = {};
  std::vector<TensorPoint> points = {};  // ascending; the last of the present weights
  double last_update = 0;  // ‖Δw‖ / ‖w‖ of the newest update, from the optimizer's moments; 0: not known
};

// How much of itself an update changes a parameter by, as far as it is known.
double newest_change(const TensorHistory& history);

struct TensorsResult {
  TensorsQuestion question;
  std::string no_gradients = {};                // why there are none, in one sentence; empty: there are
  std::vector<TensorHistory> parameters = {};   // in the model's order
  std::vector<TensorHistory> activations = {};  // in the order of the pass
};

// What is wrong, a sentence each, worst first: numbers that are not finite, gradients that are nought, units that are
// silent for the whole sentence, updates as large as a tenth of the weights. Of the newest point.
std::vector<std::string> findings(const TensorsResult& inspection);

}  // namespace attnscope
