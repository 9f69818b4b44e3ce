#include "base/numbers.h"

#include <fmt/format.h>

#include <cmath>

#include "messages/decodings.h"

namespace attnscope {
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t place = digits.size(); place > first + 3;) {
    place -= 3;
    digits.insert(place, "\u00A0");  // no line break inside a number
  }
  return digits;
}

std::string rounded(double number) {
  if (!std::isfinite(number)) return "–";
  if (std::abs(number) >= 999500) return fmt::format("{:.2f}M", number / 1e6);
  if (std::abs(number) >= 9995) return fmt::format("{:.0f}k", number / 1e3);
  if (std::abs(number) >= 999.5) return fmt::format("{:.1f}k", number / 1e3);
  return fmt::format("{:.0f}", number);
}

// ---- scores of hypotheses

std::string number_text(double value, int digits) {
  const std::string text = std::isinf(value) ? "∞" : fmt::format("{:.{}f}", std::abs(value), digits);
  const bool nothing = text.find_first_not_of("0.") == std::string::npos;
  return std::signbit(value) && !nothing ? "−" + text : text;
}

std::string score_arithmetic(double log_prob, std::size_t length, double alpha) {
  const double penalty = length_penalty(length, alpha);
  return fmt::format("length penalty ((5 + {}) / 6)^{:g} = {}\nscore = {} ÷ {} = {}", length, alpha,
                     number_text(penalty), number_text(log_prob), number_text(penalty),
                     number_text(log_prob / penalty));
}

}  // namespace attnscope
