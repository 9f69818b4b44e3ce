#include "data/corpus/grammar/template.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace attnscope {
namespace {

template <typename Expand>
std::string filled(std::string_view text, Expand expand) {
  std::string result;
  while (true) {
    const std::size_t open = text.find('[');
    result += text.substr(0, open);
    if (open == std::string_view::npos) return result;
    const std::size_t close = text.find(']', open);
    if (close == std::string_view::npos) throw std::logic_error(fmt::format("unclosed slot in \"{}\"", text));
    result += expand(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
}

// "est/sont" → "est" or "sont".
std::string chosen(std::string_view options, char separator, bool second) {
  const std::size_t bar = options.find(separator);
  return std::string(second ? options.substr(bar + 1) : options.substr(0, bar));
}

bool is_slot(std::string_view word) {
  return word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z';
}

}  // namespace

Slots& Slots::noun(char slot, const Noun& noun, bool plural) {
  return fill(slot, {.noun = &noun,
                     .english = plural ? english_plural(noun) : std::string(noun.en),
                     .french = plural ? french_plural(noun) : std::string(noun.fr),
                     .agreement = {noun.gender, plural}});
}

Slots& Slots::attribute(char slot, const Adjective& adjective) {
  Filling& described = fillings_.at(static_cast<std::size_t>(slot - 'A'));
  described.adjective = &adjective;
  described.english = fmt::format("{} {}", adjective.en, described.english);
  return *this;
}

Slots& Slots::adjective(char slot, const Adjective& adjective) {
  return fill(slot,
              {.adjective = &adjective, .english = std::string(adjective.en), .french = std::string(adjective.m)});
}

Slots& Slots::phrase(char slot, std::string_view english, std::string_view french) {
  return fill(slot, {.english = std::string(english), .french = std::string(french)});
}

Slots& Slots::fill(char slot, Filling filling) {
  fillings_.at(static_cast<std::size_t>(slot - 'A')) = std::move(filling);
  return *this;
}

const Slots::Filling& Slots::at(char slot) const {
  const Filling& filling = fillings_.at(static_cast<std::size_t>(slot - 'A'));
  if (filling.english.empty() && filling.french.empty() && !filling.noun) {
    throw std::logic_error(fmt::format("slot {} is empty", slot));
  }
  return filling;
}

std::string Slots::english(std::string_view text) const {
  return filled(text, [this](std::string_view content) { return english_slot(content); });
}

std::string Slots::french(std::string_view text) const {
  return filled(text, [this](std::string_view content) { return french_slot(content); });
}

std::string Slots::english_slot(std::string_view content) const {
  const Filling& filling = at(content.back());
  if (content.size() == 1) return filling.english;
  const std::string_view word = content.substr(0, content.size() - 2);
  if (word == "a") {
    const bool vowel = std::string_view("aeio").find(filling.english[0]) != std::string_view::npos;
    return fmt::format("{} {}", vowel ? "an" : "a", filling.english);
  }
  if (word.find('/') != std::string_view::npos) return chosen(word, '/', filling.agreement.plural);
  if (word.find('|') != std::string_view::npos) return chosen(word, '|', filling.agreement.gender == 'f');
  throw std::logic_error(fmt::format("English slot [{}]", content));
}

std::string Slots::french_slot(std::string_view content) const {
  const Filling& filling = at(content.back());
  if (content.size() == 1) return filling.french;
  const Agreement agreement = filling.agreement;
  std::string_view word = content.substr(0, content.size() - 2);
  if (word.find('/') != std::string_view::npos) return chosen(word, '/', agreement.plural);
  if (word.find('|') != std::string_view::npos) return chosen(word, '|', agreement.gender == 'f');
  if (word == "e") return fmt::format("{}{}", agreement.gender == 'f' ? "e" : "", agreement.plural ? "s" : "");
  if (word == "il") return fmt::format("{}{}", agreement.gender == 'f' ? "elle" : "il", agreement.plural ? "s" : "");
  if (is_slot(word)) return agreed(*at(word[0]).adjective, agreement);
  if (!filling.noun) return elided(word, filling.french);
  const Adjective* adjective = filling.adjective;
  if (word.size() > 2 && is_slot(word.substr(word.size() - 1))) {
    adjective = at(word.back()).adjective;
    word.remove_suffix(2);
  }
  return french_group(word, adjective, filling);
}

std::string Slots::french_group(std::string_view kind, const Adjective* adjective, const Filling& noun) const {
  const bool aspirated = noun.noun->aspirated;
  std::string group = noun.french;
  bool vowel = elides(group, aspirated);
  if (adjective && adjective->order == Order::before) {
    const std::string form = agreed(*adjective, noun.agreement, aspirated ? "" : noun.french);
    group = fmt::format("{} {}", form, group);
    vowel = elides(form);
    if (kind == "un" && noun.agreement.plural) kind = "de";  // de grandes maisons
  } else if (adjective) {
    group = fmt::format("{} {}", group, agreed(*adjective, noun.agreement));
  }
  return determiner(kind, noun.agreement, vowel) + group;
}

std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  // U+00E0…U+00FE are C3 A0…BE in UTF-8; their capitals are 0x20 lower.
  if (text.size() > 1 && text[0] == '\xC3' && static_cast<unsigned char>(text[1]) >= 0xA0) {
    text[1] = static_cast<char>(text[1] - 0x20);
  }
  const char last = text.empty() ? '.' : text.back();
  if (last != '.' && last != '?' && last != '!') text += '.';
  return text;
}

// ---- French spelling

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
  // before_vowel: with apostrophe, or the form common to both genders
  std::string_view kind, m, f, before_vowel, plural;
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
