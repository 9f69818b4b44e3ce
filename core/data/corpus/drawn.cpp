#include "data/corpus/drawn.h"

#include <algorithm>
#include <unordered_set>

namespace attnscope {
namespace {

std::vector<std::string> letters_and_digits() {
  std::vector<std::string> words;
  for (const auto& [first, last] : {std::pair{'a', 'z'}, {'A', 'Z'}, {'0', '9'}})
    for (char sign = first; sign <= last; ++sign) words.emplace_back(1, sign);
  return words;
}

}  // namespace

std::vector<int> draw_repeated(Random& random, std::size_t length, std::size_t num_words, std::size_t& period) {
  const std::size_t most = std::min(num_words, std::max<std::size_t>(2, length / 2));
  const std::size_t least = std::min(most, std::max<std::size_t>(2, length / 4));
  period = least + random.below(most - least + 1);
  std::vector<int> words;
  std::unordered_set<int> drawn;
  while (words.size() < std::min(period, length)) {
    const int word = static_cast<int>(random.below(num_words));
    if (drawn.insert(word).second) words.push_back(word);
  }
  while (words.size() < length) words.push_back(words[words.size() - period]);
  return words;
}

DrawnCorpus repeats() {
  DrawnCorpus corpus{.words = letters_and_digits(), .draw = {}};
  corpus.draw = [count = corpus.words.size()](Random& random, std::size_t length) {
    std::size_t period = 0;
    DrawnExample example{.words = draw_repeated(random, length, count, period), .determined = {}};
    // Where the first repetition begins cannot be known; after its first word, every word follows.
    for (std::size_t i = 0; i < length; ++i) example.determined.push_back(i > period);
    return example;
  };
  return corpus;
}

std::string text_of(const DrawnCorpus& corpus, const DrawnExample& example) {
  std::string text;
  for (const int word : example.words) {
    if (!text.empty()) text += ' ';
    text += corpus.words[static_cast<std::size_t>(word)];
  }
  return text;
}

}  // namespace attnscope
