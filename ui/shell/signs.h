// The signs of other scripts in what the window shows, for which fonts are to be found.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "plain/snapshot.h"

namespace attnscope {

struct Scope;

class Signs {
 public:
  // What is in the sentence, its pieces, the output with its candidates, the corpus's examples and the vocabulary, and
  // was not told before. Only what Dear ImGui can hold (the basic plane) and the window's own fonts are not made with.
  std::set<char32_t> new_in(const Scope& scope);

 private:
  void read(const std::string& text);
  void read(const Snapshot& snapshot);

  std::set<char32_t> told_;
  std::set<char32_t> new_;
  std::string sentence_;
  std::uint64_t run_ = 0;
  std::shared_ptr<const Snapshot> newest_, complete_;
  std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace attnscope
