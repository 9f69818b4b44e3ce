// Corpora without fixed sentences: training draws new examples for every batch, one per context window.
#pragma once

#include <cstddef>
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

// Different random words 0 … num_words − 1, repeated to fill `length`. The number of words before they repeat,
// `period`, varies from a quarter to half of the length, because with a fixed period one layer solves the task by
// position alone.
std::vector<int> draw_repeated(Random& random, std::size_t length, std::size_t num_words, std::size_t& period);

// The words of an example, with spaces between them.
std::string text_of(const DrawnCorpus& corpus, const DrawnExample& example);

}  // namespace attnscope
