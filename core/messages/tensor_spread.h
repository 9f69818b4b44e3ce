// Statistics of any tensor of a model: the distribution of its values and of its gradient over training.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

struct TensorsQuestion {
  std::string text;  // the text whose activations are computed; empty: no activations
  bool operator==(const TensorsQuestion&) const = default;
};

inline constexpr std::array<double, 7> spread_levels = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1};

// Shares refer to all values, quantiles to the finite ones.
struct TensorSpread {
  std::int64_t count = 0;                                // number of values; 0: no such tensor
  double norm = 0;                                       // Euclidean
  double mean = 0;                                       // of the finite ones
  std::array<double, spread_levels.size()> quantiles{};  // at spread_levels: minimum first, maximum last
  double zeros = 0;                                      // share of exact zeros
  double not_finite = 0;                                 // share that is NaN or infinite
  double silent = 0;                                     // share of the columns that are 0 in every row
  std::vector<float> histogram = {};                     // counts in equal bins from the minimum to the maximum
  double least() const { return quantiles.front(); }
  double largest() const { return quantiles.back(); }
};

struct TensorPoint {
  std::int64_t step = 0;
  TensorSpread values;
  TensorSpread gradient = {};  // of the loss on one validation batch; none for an activation
  double change =
      0;  // net displacement ‖w − w_previous‖ / ‖w_previous‖ ÷ steps since the previous point; 0: first point
};

struct TensorHistory {
  std::string name;  // as in the model
  std::vector<std::int64_t> shape = {};
  std::vector<TensorPoint> points = {};  // ascending; the last with the present weights
  double last_update = 0;  // ‖Δw‖ / ‖w‖ of the newest step, from the optimizer's moments; 0: unknown
};

// The relative size of the newest step or, if unknown, the net displacement per step since the previous point, which is
// smaller if steps undo each other.
double newest_change(const TensorHistory& history);

struct TensorsResult {
  TensorsQuestion question;
  std::string no_gradients = {};                // why there are none, in one sentence; empty: there are some
  std::int64_t gradient_rows = 0;               // pairs, or windows of text, of the validation batch of the gradients
  std::int64_t gradient_tokens = 0;             // its target tokens
  std::vector<TensorHistory> parameters = {};   // in the model's order
  std::vector<TensorHistory> activations = {};  // in the order of the forward pass
};

// Describes problems of the newest point, one sentence each, worst first: non-finite values, zero gradients, units that
// are silent for the whole sentence, steps as large as a tenth of the weights.
std::vector<std::string> findings(const TensorsResult& inspection);

}  // namespace attnscope
