// Translation of the user interface. The sources contain the English text; it is looked up in a gettext catalog while
// it is drawn, so the language can change from one frame to the next.
//
//  tr("Train")                plain text
//  tr_label("Train")          a widget's label, whose ID is the same in every language
//  trf("{} of {}", at, all)   a format string with values
//  mark("Train")              in a constant table: translated where it is drawn
//  tr_filled(text)            a text that the core has already filled with values: see common/mark.h
//
// The contents of files (CSV, JSON, names) are not translated.
#pragma once

#include <fmt/format.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/mark.h"

namespace attnscope {

enum class Language { english, french, spanish, chinese };
inline constexpr std::array<std::string_view, 4> language_codes = {"en", "fr", "es", "zh"};  // same order as Language
inline constexpr std::array language_titles = {"English", "Français", "Español", "简体中文"};

class Catalogue {
 public:
  struct Entry {
    std::string text;
    std::string label;  // translation with the English text as the ID
  };

  // Parses a GNU gettext .mo file. Skips entries whose placeholders differ from those of the English text. Throws
  // std::invalid_argument with the reason if the file is malformed.
  static Catalogue from_mo(std::string_view bytes);

  // Returns null if the catalog has no such entry.
  const Entry* find(std::string_view english) const;

  // Returns the translation of a text that matches the pattern of an entry, each value passed through `of_value`;
  // nullopt: none matches.
  std::optional<std::string> match(std::string_view filled,
                                   const std::function<std::string(std::string_view)>& of_value) const;

  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  // An entry with placeholders: the English between them, and the translation with numbered ones.
  struct Pattern {
    std::vector<std::string> between;
    std::string translation;
  };

  void add_pattern(std::string_view english, std::string_view translation);

  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
  std::vector<Pattern> patterns_;  // the most specific first
};

// The placeholders of a text, "{} {:g} %d", in argument order; nullopt: its braces are malformed.
std::optional<std::string> placeholders(std::string_view text);

// Switches the user interface to `catalogue`; null: English. Like Dear ImGui's, this state belongs to the window's
// thread, which does all drawing.
void speak(std::shared_ptr<const Catalogue> catalogue);

const char* tr(const char* english);
std::string_view tr(std::string_view english);

// For Dear ImGui functions that take a label as text and ID. Text after ## in the English belongs to the ID.
const char* tr_label(const char* english);

std::string filled(fmt::string_view english, fmt::format_args values);

// Translates a text by the pattern that it was made from, and the values in it that are such texts themselves, except
// quoted ones. Sentences, and the items of a list, are translated one by one. What is in no entry stays English.
std::string tr_filled(std::string_view english);

template <typename... Values>
std::string trf(fmt::format_string<Values...> english, Values&&... values) {
  return filled(english, fmt::make_format_args(values...));
}

}  // namespace attnscope
