// The window's words in another language. They stand in English in the sources and are looked up by it in one of
// gettext's catalogues, while they are drawn, so that the language can change from one frame to the next.
//
//   tr("Train")                words
//   tr_label("Train")          a control's, whose id stays the same in every language
//   trf("{} of {}", at, all)   words with values between them
//   mark("Train")              in a constant table: translated where it is drawn
//
// What goes into files (CSV, JSON, names) is not translated.
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

namespace attnscope {

enum class Language { english, french };
inline constexpr std::array<std::string_view, 2> language_codes = {"en", "fr"};  // in the order of Language

class Catalogue {
 public:
  struct Entry {
    std::string text;
    std::string label;  // and the English, as the id
  };

  // The bytes of a .mo file, GNU gettext's. Throws std::invalid_argument that says what is wrong with them. An entry
  // that would put other values between its words than the English is left out.
  static Catalogue from_mo(std::string_view bytes);

  // Null: it has none of that.
  const Entry* find(std::string_view english) const;

  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
};

// The values that a text has between its words, "{} {:g} %d", in the order in which they are given; none: its braces
// cannot be read.
std::optional<std::string> placeholders(std::string_view text);

// From now on in the words of `catalogue`; null: in English. Like Dear ImGui's, this state belongs to the window's
// thread, which alone draws.
void speak(std::shared_ptr<const Catalogue> catalogue);

const char* tr(const char* english);
std::string_view tr(std::string_view english);

// For what Dear ImGui takes as text and id at once. What follows ## in the English is a part of the id.
const char* tr_label(const char* english);

constexpr const char* mark(const char* english) {
  return english;
}

std::string filled(fmt::string_view english, fmt::format_args values);

template <typename... Values>
std::string trf(fmt::format_string<Values...> english, Values&&... values) {
  return filled(english, fmt::make_format_args(values...));
}

}  // namespace attnscope
