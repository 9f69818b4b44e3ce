// Shows how a number was computed, for tooltips.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace attnscope {

// Formats a number with a true minus sign and the precision of tooltips.
std::string short_number(float value);

// Same, as the operand after an operator: negative numbers in parentheses.
std::string operand_text(float value);

// "it" for "▁it".
std::string name_of(std::span<const std::string> labels, int index);

// Σ a_i b_i over `count` terms.
struct ProductSum {
  int count = 0;
  std::function<float(int)> left;
  std::function<float(int)> right;

  float term(int i) const { return left(i) * right(i); }
};

// The indices 0 … count − 1.
std::vector<int> in_order(int count);

// "0.31·1.20 + 0.52·0.44 + 0.10·−0.20 + 29 more: 3.93", with terms in that order. `after` returns the name of a term;
// empty: none.
std::string written(const ProductSum& sum, const std::vector<int>& order,
                    const std::function<std::string(int)>& after = {});

}  // namespace attnscope
