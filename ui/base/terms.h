// The glossary, and the term that each label of the window refers to.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// All in English; translated where it is drawn.
struct Term {
  std::string_view name;
  std::string_view meaning;
  std::string_view formula;  // empty: none
  std::string_view source;   // where the term comes from: a paper
  std::string_view shown;    // where it is shown: the name of a workspace or view, or the key of a setting; empty:
                             // everywhere
};

// In alphabetical order, with unique names.
std::span<const Term> glossary();

// Returns null if there is no such term.
const Term* find_term(std::string_view name);

// Finds the term for a label: a setting's key, the title of a workspace, view, plot or map, or a term. The label is in
// English or in the window's language; anything after ## is ignored. Returns null if it has no entry.
const Term* term_of(std::string_view label);

// The terms that occur in a text in the window's language, in order of first occurrence.
std::vector<const Term*> terms_in(std::string_view text);

}  // namespace attnscope
