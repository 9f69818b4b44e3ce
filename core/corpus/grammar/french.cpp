#include "corpus/grammar/french.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace attnscope {

bool elides(std::string_view word, bool aspirated) {
  if (aspirated || word.empty()) return false;
  constexpr std::array<std::string_view, 20> vowels = {"a", "e", "i", "o", "u", "h", "A", "E", "I", "O",
                                                       "U", "H", "é", "è", "ê", "â", "î", "ô", "œ", "É"};
  for (const std::string_view vowel : vowels) {
    if (word.starts_with(vowel)) return true;
  }
  return false;
}

std::string elided(std::string_view word, std::string_view text) {
  if (!elides(text)) return fmt::format("{} {}", word, text);
  return fmt::format("{}'{}", word.substr(0, word.size() - 1), text);
}

std::string agreed(const Adjective& adjective, Agreement agreement, std::string_view following) {
  if (adjective.state == State::avoir) return std::string(adjective.m);
  if (agreement.gender == 'f') return fmt::format("{}{}", adjective.f, agreement.plural ? "s" : "");
  const std::string_view m = adjective.m;
  if (!agreement.plural) {
    return std::string(elides(following) && !adjective.m_before_vowel.empty() ? adjective.m_before_vowel : m);
  }
  if (m.ends_with('s') || m.ends_with('x')) return std::string(m);
  return fmt::format("{}{}", m, m.ends_with("eau") ? "x" : "s");
}

namespace {

struct Determiner {
  std::string_view kind, m, f, before_vowel, plural;  // before_vowel: with apostrophe, or the form both genders take
};

constexpr Determiner determiners[] = {
    {"le", "le", "la", "l'", "les"},        {"un", "un", "une", "", "des"},
    {"du", "du", "de la", "de l'", "des"},  {"au", "au", "à la", "à l'", "aux"},
    {"mon", "mon", "ma", "mon", "mes"},     {"son", "son", "sa", "son", "ses"},
    {"votre", "votre", "votre", "", "vos"}, {"notre", "notre", "notre", "", "nos"},
    {"de", "de", "de", "d'", "de"},
};

}  // namespace

std::string determiner(std::string_view kind, Agreement agreement, bool vowel_follows) {
  if (kind == "ce") {
    if (agreement.plural) return "ces ";
    return agreement.gender == 'f' ? "cette " : vowel_follows ? "cet " : "ce ";
  }
  for (const Determiner& row : determiners) {
    if (row.kind != kind) continue;
    if (row.kind == "de" && vowel_follows) return "d'";
    if (agreement.plural) return fmt::format("{} ", row.plural);
    if (vowel_follows && !row.before_vowel.empty()) {
      return fmt::format("{}{}", row.before_vowel, row.before_vowel.ends_with('\'') ? "" : " ");
    }
    return fmt::format("{} ", agreement.gender == 'f' ? row.f : row.m);
  }
  throw std::logic_error(fmt::format("there is no determiner \"{}\"", kind));
}

}  // namespace attnscope
