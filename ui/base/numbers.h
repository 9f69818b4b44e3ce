// Numbers as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace attnscope {

// "12 345 678" and "9.1k": whole numbers for reading, rates for glancing.
std::string grouped(std::int64_t number);
std::string rounded(double number);

// ---- scores of hypotheses as people write sums

// With a real minus, "−0.537", but for what is rounded to 0.
std::string number_text(double value, int digits = 3);

// How a hypothesis of that length gets its score, in two lines: the length penalty, and the division by it.
std::string score_arithmetic(double log_prob, std::size_t length, double alpha);

}  // namespace attnscope
