// Formats numbers for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace attnscope {

// "12 345 678" for exact integers, "9.1k" for rates.
std::string grouped(std::int64_t number);
std::string rounded(double number);

// ---- scores of hypotheses, written as sums

// With a true minus sign, "−0.537", except for values that round to 0.
std::string number_text(double value, int digits = 3);

// The score of a hypothesis of that length in two lines: the length penalty, and the division by it.
std::string score_arithmetic(double log_prob, std::size_t length, double alpha);

}  // namespace attnscope
