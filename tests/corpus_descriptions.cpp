#include "corpus_descriptions.h"

#include "corpus/corpus.h"

namespace attnscope {

std::vector<std::string_view> corpus_descriptions() {
  std::vector<std::string_view> texts;
  for (const BuiltIn& corpus : built_in_corpora()) texts.push_back(corpus.description);
  return texts;
}

}  // namespace attnscope
