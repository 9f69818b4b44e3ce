#pragma once

#include <span>

namespace attnscope {

// Spearman's: the correlation of the ranks, equal values having their mean rank; −1 … 1, and 0 where all of a side are
// equal. Both of one length.
double rank_correlation(std::span<const double> x, std::span<const double> y);

}  // namespace attnscope
