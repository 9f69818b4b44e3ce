#include "data/corpus/modular.h"

#include <fmt/format.h>

namespace attnscope {
namespace {

// The powers of `base` modulo p, from 1 until they repeat.
std::vector<int> powers(int base, int p) {
  std::vector<int> found = {1};
  for (int next = base % p; next != 1 && next != 0; next = next * base % p) found.push_back(next);
  return found;
}

}  // namespace

bool is_prime(int number) {
  for (int divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0) return false;
  return number > 1;
}

Modular::Modular(const CorpusConfig& config)
    : p_(static_cast<int>(config.modulus)), operation_(config.operation) {
  if (multiplies() && !is_prime(p_)) {
    throw CorpusError(fmt::format("corpus.modulus is {}, but corpus.operation \"{}\" needs a prime, for example 59", p_,
                                  operation_));
  }
}

int Modular::inverse(int b) const {
  for (int candidate = 1; candidate < p_; ++candidate)
    if (b * candidate % p_ == 1) return candidate;
  return 0;
}

int Modular::result(int a, int b) const {
  if (operation_ == "+") return (a + b) % p_;
  if (operation_ == "-") return (a - b + p_) % p_;
  if (operation_ == "*") return a * b % p_;
  if (operation_ == "/") return a * inverse(b) % p_;
  return (a * a + b * b) % p_;
}

Pair Modular::pair(int a, int b) const {
  const std::string sign = is_cyclic() ? operation_ : "o";
  return {.source = fmt::format("{} {} {} =", a, sign, b), .target = std::to_string(result(a, b))};
}

std::vector<Pair> Modular::all_pairs() const {
  std::vector<Pair> pairs;
  for (int a = 0; a < p_; ++a)
    for (int b = operation_ == "/" ? 1 : 0; b < p_; ++b) pairs.push_back(pair(a, b));
  return pairs;
}

std::vector<int> Modular::in_cyclic_order() const {
  std::vector<int> order;
  if (multiplies()) {
    for (int base = 2; static_cast<int>(order.size()) < p_ - 1; ++base) order = powers(base, p_);
    return order;
  }
  for (int number = 0; number < p_; ++number) order.push_back(number);
  return order;
}

}  // namespace attnscope
