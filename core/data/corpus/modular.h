// Arithmetic modulo p (Power et al. 2022, arXiv 2201.02177): "3 + 5 =" → "1".
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "data/corpus/corpus.h"

namespace attnscope {

bool is_prime(int number);

class Modular {
 public:
  // Throws CorpusError if division needs a prime and p is none.
  explicit Modular(const CorpusConfig& config);

  Pair pair(int a, int b) const;
  std::vector<Pair> all_pairs() const;  // division: without those by 0

  bool multiplies() const { return operation_ == "*" || operation_ == "/"; }
  bool is_cyclic() const { return operation_ != "x^2+y^2"; }  // in the order below, a sum or a difference
  // 0 … p − 1; for × and ÷ the powers of a generator, all numbers but 0, in which they are + and −.
  std::vector<int> in_cyclic_order() const;

 private:
  int result(int a, int b) const;
  int inverse(int b) const;

  int p_;
  std::string operation_;
};

}  // namespace attnscope
