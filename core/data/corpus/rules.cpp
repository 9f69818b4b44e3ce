#include <fmt/format.h>

#include <set>

#include "data/corpus/corpus.h"
#include "data/corpus/modular.h"

namespace attnscope {

DrawnCorpus rules(std::int64_t p) {
  if (!is_prime(static_cast<int>(p)))
    throw CorpusError(fmt::format("corpus.modulus is {}, but the corpus rules needs a prime, for example 7", p));
  DrawnCorpus corpus;
  for (const char* form : {"f({})", "{}"})
    for (std::int64_t number = 0; number < p; ++number) corpus.words.push_back(fmt::format(fmt::runtime(form), number));
  corpus.draw = [count = static_cast<std::size_t>(p)](Random& random, std::size_t length) {
    const std::size_t a = random.below(count), b = random.below(count);
    DrawnExample example;
    std::set<std::size_t> seen;
    while (example.words.size() < length) {
      const std::size_t x = random.below(count);
      for (const std::size_t word : {x, count + (a * x + b) % count}) example.words.push_back(static_cast<int>(word));
      example.determined.insert(example.determined.end(), {false, seen.size() > 1 || seen.contains(x)});
      seen.insert(x);
    }
    example.words.resize(length);
    example.determined.resize(length);
    return example;
  };
  return corpus;
}

}  // namespace attnscope
