// The signs of other scripts in what the window shows, for which fonts are to be found.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "plain/snapshot.h"

namespace attnscope {

struct AppState;

class Glyphs {
 public:
  // What is in the sentences, their pieces, the output with its candidates, the corpus's examples, the vocabulary, the
  // names of runs and files, and messages, and was not told before. Only what Dear ImGui can hold (the basic plane) and
  // the window's own fonts are not made with.
  std::set<char32_t> new_in(const AppState& scope);

 private:
  void read(const std::string& text);
  void read(const Snapshot& snapshot);
  void read_what_is_short(const AppState& scope);

  std::set<char32_t> told_;
  std::set<char32_t> new_;
  std::uint64_t run_ = 0;
  std::shared_ptr<const Snapshot> newest_, complete_;
  std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace attnscope
