#include "config/rope_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>

#include "common/split.h"

namespace attnscope {
namespace {

struct Scaling {
  std::string_view kind;
  std::size_t numbers;  // after the colon
};
constexpr Scaling scalings[] = {{"none", 0}, {"linear", 1}, {"dynamic", 2}, {"llama3", 4}, {"yarn", 5}};

[[noreturn]] void refuse(const std::string& text) {
  throw ConfigError(fmt::format(
      "model.rope_scaling is \"{}\", allowed: none, linear:FACTOR, dynamic:FACTOR,LENGTH (more than 2 rotated "
      "dimensions), llama3:FACTOR,LOW,HIGH,LENGTH, yarn:FACTOR,SLOW,FAST,LENGTH,MAGNITUDE, with numbers "
      "above 0",
      text));
}

std::vector<double> numbers_of(std::string_view list, const std::string& whole) {
  std::vector<double> numbers;
  if (list.empty()) return numbers;
  for (const std::string_view text : split(list, ",")) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !(number > 0) || !std::isfinite(number))
      refuse(whole);
    numbers.push_back(number);
  }
  return numbers;
}

// Interpolates between `scaled` (share 0) and `plain` (share 1) for every pair.
template <typename Share>
void mix(std::vector<double>& frequencies, double factor, Share share) {
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double kept = std::clamp(share(i), 0.0, 1.0);
    frequencies[i] *= kept + (1 - kept) / factor;
  }
}

// The pair, as a fractional index, that turns so many times in `length` tokens.
double pair_that_turns(double times, double length, double d, double theta) {
  return d * std::log(length / (times * 2 * std::numbers::pi)) / (2 * std::log(theta));
}

}  // namespace

RotaryAngles rotary_angles(const ModelConfig& config, std::int64_t length) {
  const std::string& text = config.rope_scaling;
  const std::string_view kind = std::string_view(text).substr(0, text.find(':'));
  const auto* const known = std::ranges::find(scalings, kind, &Scaling::kind);
  if (known == std::end(scalings)) refuse(text);
  const std::vector<double> n =
      numbers_of(std::string_view(text).substr(std::min(text.size(), kind.size() + 1)), text);
  if (n.size() != known->numbers) refuse(text);
  const auto d = static_cast<double>(config.rotary_width > 0 ? config.rotary_width : config.head_width());
  if (kind == "dynamic" && d <= 2) refuse(text);  // the exponent d / (d − 2)
  double theta = config.rope_theta;
  if (kind == "dynamic" && static_cast<double>(length) > n[1])
    theta *= std::pow(n[0] * static_cast<double>(length) / n[1] - n[0] + 1, d / (d - 2));
  RotaryAngles angles;
  for (double i = 0; i < d; i += 2) angles.frequencies.push_back(std::exp(-i / d * std::log(theta)));
  if (kind == "linear") mix(angles.frequencies, n[0], [](std::size_t) { return 0.0; });
  if (kind == "llama3") {
    const std::vector<double> plain = angles.frequencies;
    mix(angles.frequencies, n[0], [&](std::size_t i) {
      const double turns = n[3] * plain[i] / (2 * std::numbers::pi);
      return (turns - n[1]) / (n[2] - n[1]);
    });
  }
  if (kind == "yarn") {
    const double low = std::max(std::floor(pair_that_turns(n[2], n[3], d, config.rope_theta)), 0.0);
    const double high = std::min(std::ceil(pair_that_turns(n[1], n[3], d, config.rope_theta)), d - 1);
    const double width = high == low ? 0.001 : high - low;
    mix(angles.frequencies, n[0], [&](std::size_t i) { return 1 - (static_cast<double>(i) - low) / width; });
    angles.magnitude = n[4];
  }
  angles.frequencies.resize(static_cast<std::size_t>(config.head_width() / 2), 0);
  return angles;
}

}  // namespace attnscope
