#include "analysis/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "config/config.h"

namespace attnscope {
namespace {

constexpr double hottest = 100;    // practically uniform
constexpr double rounding = 1e-9;  // tolerance of a sum of probabilities: rounding must not add a token to the nucleus

std::size_t most_probable(std::span<const float> logits) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (std::size_t id = 0; id < logits.size(); ++id) {
    if (std::isnan(logits[id]) || logits[id] == infinity)
      throw std::domain_error(fmt::format("cannot sample a token: the logit of token {} is {}", id, logits[id]));
  }
  const auto best = std::max_element(logits.begin(), logits.end());
  if (best == logits.end() || *best == -infinity)
    throw std::domain_error(fmt::format("cannot sample a token: none of the {} logits is finite", logits.size()));
  return static_cast<std::size_t>(best - logits.begin());
}

void scale(std::vector<double>& probabilities, double total) {
  for (double& p : probabilities) p /= total;
}

std::vector<double> softmax(std::span<const float> logits, std::size_t best, double temperature) {
  std::vector<double> probabilities(logits.size());
  if (temperature == 0) {  // the limit T → 0
    probabilities[best] = 1;
    return probabilities;
  }
  std::transform(logits.begin(), logits.end(), probabilities.begin(), [&](float logit) {
    return std::exp((static_cast<double>(logit) - static_cast<double>(logits[best])) / temperature);
  });
  scale(probabilities, std::accumulate(probabilities.begin(), probabilities.end(), 0.0));
  return probabilities;
}

// The ids of the `count` most probable tokens, most probable first.
std::vector<std::size_t> best_ids(const std::vector<double>& probabilities, std::size_t count) {
  std::vector<std::size_t> ids(probabilities.size());
  std::iota(ids.begin(), ids.end(), 0U);
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
                    [&](std::size_t a, std::size_t b) {
                      return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
                    });
  ids.resize(count);
  return ids;
}

}  // namespace

void check(const SamplingOptions& options) {
  const auto refuse = [](const char* option, auto value, const char* allowed) {
    throw ConfigError(fmt::format("{} is {}, allowed: {}", option, value, allowed));
  };
  // Written so that NaN is rejected too.
  if (!(options.temperature >= 0 && options.temperature <= hottest))
    refuse("temperature", options.temperature, "0 (always the most probable token) to 100");
  if (options.top_k < 0) refuse("top-k", options.top_k, "0 (all tokens) or more");
  if (!(options.top_p > 0 && options.top_p <= 1)) refuse("top-p", options.top_p, "above 0, up to 1 (all tokens)");
  if (options.seed < 0) refuse("seed", options.seed, "0 or more");
}

NextProbabilities next_probabilities(std::span<const float> logits, const SamplingOptions& options) {
  NextProbabilities result;
  result.before = softmax(logits, most_probable(logits), options.temperature);
  const std::size_t top_k = options.top_k == 0 ? logits.size() : static_cast<std::size_t>(options.top_k);
  if (top_k >= logits.size() && options.top_p == 1) {
    result.after = result.before;
    return result;
  }
  const std::vector<std::size_t> ids = best_ids(result.before, std::min(top_k, logits.size()));
  double left = 0;  // total probability after top-k
  for (const std::size_t id : ids) left += result.before[id];
  const double wanted = options.top_p == 1 ? 1 : options.top_p * left * (1 - rounding);
  result.after.resize(logits.size());
  double total = 0;
  for (const std::size_t id : ids) {
    if (total >= wanted) break;
    result.after[id] = result.before[id];
    total += result.before[id];
  }
  scale(result.after, total);
  return result;
}

Sampler::Sampler(const SamplingOptions& options)
    : options_(options), random_(static_cast<std::mt19937_64::result_type>(options.seed)) {
  check(options);
}

int Sampler::draw(std::span<const float> logits) {
  const std::vector<double> probabilities = next_probabilities(logits, options_).after;
  const double u = static_cast<double>(random_() >> 11U) * 0x1p-53;
  double cumulative = 0;
  std::size_t drawn = 0;  // the last possible token, in case rounding leaves the sum below u
  for (std::size_t id = 0; id < probabilities.size() && cumulative <= u; ++id) {
    if (probabilities[id] > 0) drawn = id;
    cumulative += probabilities[id];
  }
  return static_cast<int>(drawn);
}

}  // namespace attnscope
