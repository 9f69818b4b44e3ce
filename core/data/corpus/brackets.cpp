#include "data/corpus/drawn.h"

namespace attnscope {

DrawnCorpus brackets() {
  constexpr std::size_t kinds = 3, deepest = 4;
  DrawnCorpus corpus{.words = {"(", "[", "{", ")", "]", "}"}, .draw = {}};
  corpus.draw = [](Random& random, std::size_t length) {
    DrawnExample example;
    std::vector<std::size_t> open;  // the kinds not yet closed
    for (std::size_t i = 0; i < length; ++i) {
      const bool closes = open.size() == deepest || (!open.empty() && random.below(2) == 0);
      if (!closes) open.push_back(random.below(kinds));
      example.words.push_back(static_cast<int>(open.back() + (closes ? kinds : 0)));
      example.determined.push_back(closes);
      if (closes) open.pop_back();
    }
    return example;
  };
  return corpus;
}

}  // namespace attnscope
