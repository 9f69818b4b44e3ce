// Pairs of a corpus that are similar to a given one, for statistics.
#pragma once

#include <string>
#include <vector>

#include "data/corpus/corpus.h"
#include "inspect/circuit/search.h"
#include "messages/circuit.h"

namespace attnscope {

// Sentences of the corpus that differ from the pair in at most two words besides its contrasting word, each with a
// contrast sentence. If the corpus says which word a pronoun refers to, the contrasting word is one that occurs at this
// position when the pronoun refers to another word; otherwise it is the pair's own. Each choice of the other words
// occurs once, at most `most` in total, held-out sentences first. Empty if the pair differs in more than one word.
std::vector<ContrastQuestion> contrasts_like(const Corpus& corpus, const ContrastQuestion& pair, std::size_t most = 60);

// Sentences that differ from this one in one word, which the corpus replaces by another in sentences of this kind; if
// pronoun references are known, the reference must change. Sorted by similarity, then by how widely the word is used.
std::vector<std::string> contrasts_of(const Corpus& corpus, const std::string& sentence, std::size_t most = 12);

// Sentences with one word replaced by another that the corpus has between the same neighbors, or else after the same
// word: candidates for any corpus, whose translations may be equal. Sorted by neighbors, then by frequency.
std::vector<std::string> word_swaps_of(const Corpus& corpus, const std::string& sentence, std::size_t most = 24);

struct CorpusCases {
  std::vector<ContrastCase> cases;  // the clean sentence is the one whose answer equals the pair's clean answer
  int tried = 0;
};

// Those of `contrasts` that the model distinguishes by the same two tokens as the pair, and the pair's own slots, where
// words that vary between the pairs are shown as "…". `progress` is called for each.
CorpusCases cases_like(SequenceModel& model, const Tokenizer& tokenizer, const ContrastFacts& pair,
                       const std::vector<ContrastQuestion>& contrasts, const FractionCallback& progress = {});

}  // namespace attnscope
