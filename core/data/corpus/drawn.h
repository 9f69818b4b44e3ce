// Corpora without fixed sentences: training draws new examples for every batch, one per context window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus/random.h"

namespace attnscope {

struct DrawnExample {
  std::vector<int> words;         // indices into DrawnCorpus::words
  std::vector<bool> determined;  // of every word: true if it follows from the words before it
};

struct DrawnCorpus {
  std::vector<std::string> words;  // the vocabulary
  std::function<DrawnExample(Random& random, std::size_t length)> draw;

  explicit operator bool() const { return static_cast<bool>(draw); }
};

// Random letters and digits, repeated to fill the context: "a 7 K a 7 K a 7".
DrawnCorpus repeats();

// Brackets of three kinds that close in order, nested at most 4 deep (Dyck-(3, 4), Yao et al. 2021, arXiv 2105.11115):
// "( [ ] { ( ) } )". The context may end before all are closed. The kind of every closing bracket is determined.
DrawnCorpus brackets();

// Values of one random f(x) = (a x + b) mod p, after Garg et al. 2022 (arXiv 2208.01066): with p = 7, a = 2 and b = 1,
// "f(3) 0 f(1) 3 f(5) 4". A value is determined if its x occurred before or two different x did. Throws CorpusError if
// p is not prime.
DrawnCorpus rules(std::int64_t p);

// Different random words 0 … num_words − 1, repeated to fill `length`. The number of words before they repeat,
// `period`, varies from a quarter to half of the length, because with a fixed period one layer solves the task by
// position.
std::vector<int> draw_repeated(Random& random, std::size_t length, std::size_t num_words, std::size_t& period);

// The words of an example, with spaces between them.
std::string text_of(const DrawnCorpus& corpus, const DrawnExample& example);

}  // namespace attnscope
