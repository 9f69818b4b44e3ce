// A corpus's file: pairs or running text. The first byte says how it is read.
#include "common/utf8.h"
#include "data/corpus/corpus.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;
  if (size == 0) return 0;
  CorpusConfig config;
  config.source = fuzz::file("corpus.tsv", fuzz::view(data + 1, size - 1)).string();
  config.lowercase = (data[0] & 2U) != 0;
  if ((data[0] & 4U) != 0) config.target = fuzz::file("target.txt", fuzz::view(data + 1, size - 1)).string();
  const bool as_text = (data[0] & 1U) != 0;
  fuzz::reading<CorpusError>([&] {
    const Corpus corpus = load_corpus(config, {}, as_text);
    fuzz::require(as_text ? !corpus.text.train.empty() : !corpus.train.empty());
    for (const Pair& pair : corpus.train) fuzz::require(!utf8_fault(pair.source) && !utf8_fault(pair.target));
    fuzz::require(!utf8_fault(corpus.text.train + corpus.text.validation + corpus.text.test));
  });
  return 0;
}
