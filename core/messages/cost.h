// The cost of a layer by sentence length: self-attention, recurrence, convolution (paper table 1).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

enum class CostLayer { self_attention, recurrent, convolution };
inline constexpr std::array cost_layers = {CostLayer::self_attention, CostLayer::recurrent, CostLayer::convolution};

inline constexpr std::int64_t shortest_cost = 16, longest_cost = 2048;
inline constexpr std::int64_t cost_kernel = 3;  // k of the convolution

struct CostQuestion {
  std::int64_t longest = longest_cost;
  double seconds = 30;      // in total, at most; a measurement that has started is finished
  double megabytes = 1024;  // per measurement, at most
  bool operator==(const CostQuestion&) const = default;
};

// Medians over several rounds at one sentence length.
struct CostPoint {
  std::int64_t length = 0;
  double forward_ms = 0;
  double backward_ms = 0;
  double megabytes = 0;  // peak of the forward and backward pass, without parameters and input

  double milliseconds() const { return forward_ms + backward_ms; }
};

struct CostCurve {
  CostLayer layer = CostLayer::self_attention;
  std::vector<CostPoint> points;  // shortest first
  std::string ended = {};         // why it ends before the longest; empty: it does not
};

struct CostResult {
  std::int64_t d_model = 0;
  std::int64_t heads = 1;
  std::string cell;    // of the recurrent layer
  std::string device;  // with the number of threads
  std::vector<CostCurve> curves;
  double processor_share =
      1;  // share of the time in which the measuring thread had a processor; below 1, times are too long
};

// Says in one sentence that other processes used too much of the processor; empty if they did not.
std::string disturbed(const CostResult& inspection);

// Returns e of the fitted cost ~ size^e over the upper half of the points, with constant costs weighted least; 0: no
// cost, or fewer than two points.
double fitted_exponent(std::span<const double> sizes, std::span<const double> costs);
double time_exponent(const CostCurve& curve);
double memory_exponent(const CostCurve& curve);

// ---- the paper's table 1, for n tokens of width d

struct LayerComplexity {
  std::string_view name;        // "self-attention"
  std::string_view operations;  // "n²·d"
  std::string_view sequential;  // "1"
  std::string_view path;        // "1"
};
const LayerComplexity& complexity(CostLayer layer);

// Returns the multiplications of the whole layer: attention 4nd² + 2n²d, recurrence of G gates 2Gnd², convolution knd².
double multiplications(CostLayer layer, std::int64_t n, std::int64_t d, std::string_view cell);

// The sentence length at which scores and mixing (2n²d) cost as much as the projections (4nd²).
constexpr std::int64_t crossing(std::int64_t d_model) {
  return 2 * d_model;
}

}  // namespace attnscope
