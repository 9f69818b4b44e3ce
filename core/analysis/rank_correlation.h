#pragma once

#include <span>

namespace attnscope {

// Spearman's rank correlation: −1 … 1. Ties get their mean rank; 0 if all values of a side are equal. Both must have
// the same length.
double rank_correlation(std::span<const double> x, std::span<const double> y);

}  // namespace attnscope
