// The output of the built-in corpora, before splitting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/corpus/corpus.h"

namespace attnscope {

struct Draft {
  Pair pair;
  std::string key = {};  // drafts with the same key are in the same part of the split
  bool pinned = false;   // never dropped by sampling, and always in the test part
};

// ---- the built-in tasks whose answer follows a rule

std::vector<Draft> copy_drafts(std::int64_t seed);      // "k a t" → "k a t"
std::vector<Draft> reverse_drafts(std::int64_t seed);   // "k a t" → "t a k"
std::vector<Draft> sort_drafts(std::int64_t seed);      // "k a t" → "a k t"
std::vector<Draft> addition_drafts(std::int64_t seed);  // "1 2 + 3 4 5" → "3 5 7"
std::vector<Draft> date_drafts(std::int64_t seed);      // "May 3, 1998" → "1998-05-03"
std::vector<Draft> verdict_drafts(std::int64_t seed);   // "the soup was not good" → "complaint"

}  // namespace attnscope
