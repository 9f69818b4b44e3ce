// Which words training has seen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "corpus/corpus.h"
#include "plain/callbacks.h"
#include "plain/snapshot.h"

namespace attnscope {

// The words of a corpus's training part: of the sources, or of its running text.
class SeenWords {
 public:
  // Goes through all of it; `breathe` is called on the way and may throw to give up.
  SeenWords(const Corpus& corpus, const YieldCallback& yield);

  // Of a sentence's pieces those words that are not among them. None of a corpus that is too large to be gone through,
  // and never a word of a script that writes its words together: nothing is claimed of what is not known.
  std::vector<UnseenWord> unseen_in(const std::vector<Token>& tokens) const;

 private:
  void add(std::string_view text);
  // `begins`: the word is a sentence's first.
  std::vector<std::string> nearest(std::string_view word, bool begins) const;

  struct Seen {
    std::int64_t count = 0;
    bool within = false;  // not only as a line's first word
  };
  std::unordered_map<std::string, Seen> seen_;
};

}  // namespace attnscope
