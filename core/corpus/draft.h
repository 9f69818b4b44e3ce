// What the built-in corpora hand to the splitter.
#pragma once

#include <string>
#include <vector>

#include "corpus/corpus.h"

namespace attnscope {

struct Draft {
  Pair pair;
  std::string key = {};  // drafts with the same key stand in the same part of the split
  bool pinned = false;   // never left out by sampling, and always in the test part
};

}  // namespace attnscope
