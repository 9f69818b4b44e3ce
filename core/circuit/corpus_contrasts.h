// Pairs of a corpus that are like a given one, to count over.
#pragma once

#include <string>
#include <vector>

#include "circuit/search.h"
#include "corpus/corpus.h"
#include "plain/circuit.h"

namespace attnscope {

// Sentences of the corpus that have the pair's words but for two at most besides the one in which the pair differs,
// each with a twin. Where the corpus tells which word a pronoun stands for, the twin's differing word is one that the
// corpus has at this place when the pronoun stands for another word; else it is the pair's own. Every choice of the
// other words once, `most` of them at most, held-out sentences first. None where the pair differs in more than a word.
std::vector<ContrastQuestion> contrasts_like(const Corpus& corpus, const ContrastQuestion& pair, std::size_t most = 60);

// Sentences that differ from this one in a word for which the corpus has another in sentences of this kind, so that a
// pronoun stands for another word where it tells that. The nearest first, and of those what is said of most things.
std::vector<std::string> contrasts_of(const Corpus& corpus, const std::string& sentence, std::size_t most = 12);

struct CorpusCases {
  std::vector<ContrastCase> cases;  // the clean sentence is the one whose answer is the pair's clean answer
  int tried = 0;
};

// Those of `twins` that the model tells apart between the same two pieces as the pair; the pair's own slots, words that
// differ between the pairs marked with "…". `progress` is called for each.
CorpusCases cases_like(SequenceModel& model, const Tokenizer& tokenizer, const ContrastFacts& pair,
                       const std::vector<ContrastQuestion>& contrasts, const FractionCallback& progress = {});

}  // namespace attnscope
