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

  // The number of different words; 0 for a corpus too large to scan.
  std::int64_t size() const { return static_cast<std::int64_t>(seen_.size()); }

 private:
  void add(std::string_view text);
  // `before`, `after`: the words next to it; empty at the ends of a sentence.
  std::vector<std::string> suggestions(std::string_view word, std::string_view before, std::string_view after) const;

  struct Seen {
    std::int64_t count = 0;
    bool within = false;  // occurs elsewhere than as a line's first word
  };
  std::unordered_map<std::string, Seen> seen_;
  std::vector<bool> pairs_;  // by hash: two words occur next to each other; a few that do not collide with them
};

}  // namespace attnscope
