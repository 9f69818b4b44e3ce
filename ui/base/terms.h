// The words of the window in plain language, and which of them each label is about.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// All in English: translated where it is drawn.
struct Term {
  std::string_view name;
  std::string_view meaning;
  std::string_view formula;  // empty: none
  std::string_view source;   // where it comes from
  std::string_view shown;    // the name of a workspace or of a view, or the key of a setting; empty: everywhere
};

// In the order of the alphabet; no two of one name.
std::span<const Term> glossary();

// Null: there is none.
const Term* find_term(std::string_view name);

// What a label is about: a setting's key, the title of a workspace, a view, a plot or a map, a term; in English or in
// the window's language, and what follows ## does not count. Null: nothing that has an entry.
const Term* term_of(std::string_view label);

// Those that a text in the window's language speaks of, the first first.
std::vector<const Term*> terms_in(std::string_view text);

}  // namespace attnscope
