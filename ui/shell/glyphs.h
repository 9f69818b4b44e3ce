// Collects characters of further scripts in displayed text, so that fonts can be loaded for them.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "messages/snapshot.h"

namespace attnscope {

struct AppState;

// Says that no installed font has the character, and which Debian package does.
std::string missing_font_text(char32_t sign, std::string_view package);

class Glyphs {
 public:
  // Returns characters that were not reported before, from the window's language, sentences, tokens, outputs and
  // candidates, the corpus's examples, the vocabulary, names of runs and files, and messages. Skips characters outside
  // the basic plane, which Dear ImGui cannot represent, and those the window's own fonts contain.
  // A menu may name languages.
  std::set<char32_t> new_in(const AppState& scope, bool menu_open = false);

 private:
  void read(const std::string& text);
  void read_characters(const std::string& text);
  void read(const Snapshot& snapshot);
  void read_what_is_short(const AppState& scope);
  void read_language(const AppState& scope);

  std::set<char32_t> requested_;
  std::set<char32_t> new_;
  std::uint64_t run_ = 0;
  Language language_ = Language::english;
  std::shared_ptr<const Snapshot> newest_, complete_;
  std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace attnscope
