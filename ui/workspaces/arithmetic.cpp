#include "workspaces/arithmetic.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "base/translation.h"
#include "messages/snapshot.h"

namespace attnscope {
namespace {

constexpr std::size_t written_terms = 3;  // terms of a sum written out; the others are combined

}  // namespace

std::string short_number(float value) {
  const float size = std::abs(value);
  const std::string digits = fmt::format("{:.{}f}", size, size >= 100 ? 1 : size >= 1 ? 2 : 3);
  const bool zero = digits.find_first_not_of("0.") == std::string::npos;
  return value < 0 && !zero ? "\u2212" + digits : digits;
}

std::string operand_text(float value) {
  const std::string text = short_number(value);
  return text.starts_with("\u2212") ? "(" + text + ")" : text;
}

std::string name_of(std::span<const std::string> labels, int index) {
  return std::string(without_mark(labels[static_cast<std::size_t>(index)]));
}

std::vector<int> in_order(int count) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::string written(const ProductSum& sum, const std::vector<int>& order,
                    const std::function<std::string(int)>& after) {
  std::string text;
  float rest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i >= written_terms) {
      rest += sum.term(order[i]);
      continue;
    }
    if (i > 0) text += " + ";
    text += short_number(sum.left(order[i])) + "·" + operand_text(sum.right(order[i]));
    if (after) text += " (" + after(order[i]) + ")";
  }
  if (order.size() > written_terms) text += trf(" + {} more ({})", order.size() - written_terms, short_number(rest));
  return text;
}

}  // namespace attnscope
