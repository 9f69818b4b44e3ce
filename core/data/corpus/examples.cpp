#include "data/corpus/examples.h"

#include <algorithm>
#include <map>

#include "common/spread.h"

namespace attnscope {
namespace {

constexpr std::size_t examples_a_category = 8;

// The first half of a line, in words, as a prompt.
std::string beginning(const std::string& line) {
  const auto spaces = std::count(line.begin(), line.end(), ' ');
  std::size_t end = 0;
  for (std::ptrdiff_t i = 0; i <= spaces / 2; ++i) end = std::min(line.find(' ', end + 1), line.size());
  return line.substr(0, end);
}

// Prompts from lines spread over the text.
std::vector<Example> prompts_of(const std::string& text) {
  std::vector<Example> prompts;
  for (const std::string& line : spread_evenly(lines_of(text), examples_a_category))
    prompts.push_back({beginning(line), {}});
  return prompts;
}

}  // namespace

std::vector<Example> examples_of(const Corpus& corpus) {
  std::vector<Example> examples = prompts_of(corpus.text.test);
  std::map<std::string, std::size_t> taken;
  for (std::size_t i = 0; i < corpus.test.size(); ++i) {
    if (i % 64 == 0) corpus.test.release();  // they are far apart
    const PairView pair = corpus.test.view(i);
    if (taken[std::string(pair.category)]++ < examples_a_category)
      examples.push_back({std::string(pair.source), std::string(pair.target)});
  }
  return examples;
}

}  // namespace attnscope
