// The scores of hypotheses as people write sums.
#pragma once

#include <cstddef>
#include <string>

namespace attnscope {

// With a real minus: "−0.537".
std::string number_text(double value, int digits = 3);

// How a hypothesis of that length gets its score, in two lines: the length penalty, and the division by it.
std::string score_arithmetic(double log_prob, std::size_t length, double alpha);

}  // namespace attnscope
