// How a number came about, written out: for tooltips.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace attnscope {

// With a real minus sign, and as many digits as a tooltip needs.
std::string short_number(float value);

// The same behind an operator.
std::string operand_text(float value);

// "it" of "▁it".
std::string name_of(std::span<const std::string> labels, int index);

// Σ a_i b_i over `count` terms.
struct ProductSum {
  int count = 0;
  std::function<float(int)> left;
  std::function<float(int)> right;

  float term(int i) const { return left(i) * right(i); }
};

// 0 … count − 1.
std::vector<int> in_order(int count);

// "0.31·1.20 + 0.52·0.44 + 0.10·−0.20 + 29 more: 3.93", the terms in that order. `after` names a term; empty: none.
std::string written(const ProductSum& sum, const std::vector<int>& order,
                    const std::function<std::string(int)>& after = {});

}  // namespace attnscope
