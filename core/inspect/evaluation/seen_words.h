// The words that occur in training.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/corpus/corpus.h"
#include "messages/callbacks.h"
#include "messages/snapshot.h"

namespace attnscope {

// The words of a corpus's training part: of the sources, or of its running text.
class SeenWords {
 public:
  // Scans the whole training part; `yield` is called meanwhile and may throw to cancel.
  SeenWords(const Corpus& corpus, const YieldCallback& yield);

  // The words of a sentence's tokens that are not in the training part. Empty for a corpus too large to scan; never
  // includes words of scripts without spaces, because nothing reliable is known about them.
  std::vector<UnseenWord> unseen_in(const std::vector<Token>& tokens) const;

 private:
  void add(std::string_view text);
  // `begins`: the word is the first of a sentence.
  std::vector<std::string> nearest(std::string_view word, bool begins) const;

  struct Seen {
    std::int64_t count = 0;
    bool within = false;  // occurs elsewhere than as a line's first word
  };
  std::unordered_map<std::string, Seen> seen_;
};

}  // namespace attnscope
