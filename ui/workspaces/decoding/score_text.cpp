#include "workspaces/decoding/score_text.h"

#include <fmt/format.h>

#include <cmath>

#include "plain/decodings.h"

namespace attnscope {

std::string number_text(double value, int digits) {
  const std::string text = std::isinf(value) ? "∞" : fmt::format("{:.{}f}", std::abs(value), digits);
  return std::signbit(value) ? "−" + text : text;
}

std::string score_arithmetic(double log_prob, std::size_t length, double alpha) {
  const double penalty = length_penalty(length, alpha);
  return fmt::format("length penalty ((5 + {}) / 6)^{:g} = {}\nscore = {} ÷ {} = {}", length, alpha,
                     number_text(penalty), number_text(log_prob), number_text(penalty),
                     number_text(log_prob / penalty));
}

}  // namespace attnscope
