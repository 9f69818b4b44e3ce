#include "base/translation.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

namespace attnscope {
namespace {

// ---- .mo format: a header of seven numbers, then the offsets of each English string and its translation
// https://www.gnu.org/software/gettext/manual/html_node/MO-Files.html

constexpr std::uint32_t magic = 0x950412DE;
constexpr std::uint32_t most_entries = 100000;

class MoFile {
 public:
  explicit MoFile(std::string_view bytes) : bytes_(bytes) {
    if (bytes.size() < 28) throw std::invalid_argument("it is not a .mo catalog: the file is too short");
    is_swapped_ = number(0) != magic;
    if (number(0) != magic) throw std::invalid_argument("it is not a .mo catalog: it starts with the wrong four bytes");
    if (count() > most_entries) throw std::invalid_argument(fmt::format("it has too many entries ({})", count()));
  }

  std::uint32_t count() const { return number(8); }
  std::string_view english(std::uint32_t entry) const { return text(number(12), entry); }
  std::string_view translation(std::uint32_t entry) const { return text(number(16), entry); }

 private:
  std::uint32_t number(std::uint64_t at) const {
    if (at + 4 > bytes_.size()) throw std::invalid_argument("the file is truncated");
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + at, 4);
    if constexpr (std::endian::native == std::endian::big) value = swapped(value);
    return is_swapped_ ? swapped(value) : value;
  }

  static std::uint32_t swapped(std::uint32_t value) {
    return value >> 24U | (value >> 8U & 0xFF00U) | (value << 8U & 0xFF0000U) | value << 24U;
  }

  // Plural forms are separated by NUL; returns the first.
  std::string_view text(std::uint64_t table, std::uint64_t entry) const {
    const std::uint64_t size = number(table + entry * 8), at = number(table + entry * 8 + 4);
    if (at + size > bytes_.size()) throw std::invalid_argument("an entry points beyond the end of the file");
    const std::string_view whole = bytes_.substr(at, size);
    return whole.substr(0, whole.find('\0'));
  }

  std::string_view bytes_;
  bool is_swapped_ = false;
};

// ---- placeholders

// Parses "{1:.2f}" at `at`: which argument and its format; advances `at` past it. Returns false if the braces are
// malformed.
bool take_braces(std::string_view text, std::size_t& at, int& next, std::map<int, std::string>& values) {
  const std::size_t end = text.find('}', at);
  if (end == std::string_view::npos) return false;
  std::string_view inside = text.substr(at + 1, end - at - 1);
  int index = 0;
  std::size_t digits = 0;
  while (digits < inside.size() && digits < 3 && std::isdigit(static_cast<unsigned char>(inside[digits])) != 0)
    index = index * 10 + (inside[digits++] - '0');
  if (digits == 0) index = next++;
  values[index] += fmt::format("{{{}}}", inside.substr(digits));
  at = end + 1;
  return true;
}

// Parses "%.2f" at `at`, a printf placeholder; a percent sign before anything else is literal.
bool take_percent(std::string_view text, std::size_t& at, int& next, std::map<int, std::string>& values) {
  const std::size_t end = text.find_first_not_of("0123456789.-+l", at + 1);
  if (end == std::string_view::npos || std::string_view("dfgsuxe").find(text[end]) == std::string_view::npos)
    return false;
  values[next++] += text.substr(at, end + 1 - at);
  at = end + 1;
  return true;
}

// ---- patterns, matched against texts that were filled with values

// The text between the placeholders, with "{{" and "}}" unescaped; `indices`: the arguments' numbers.
std::vector<std::string> between_placeholders(std::string_view text, std::vector<int>& indices) {
  std::vector<std::string> between(1);
  int next = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view two = text.substr(at, 2);
    if (two == "{{" || two == "}}") {
      between.back() += text[at++];
    } else if (text[at] == '{') {
      std::map<int, std::string> value;
      if (!take_braces(text, at, next, value)) return {};
      indices.push_back(value.begin()->first);
      between.emplace_back();
      --at;
    } else {
      between.back() += text[at];
    }
  }
  return between;
}

std::size_t num_letters(const std::vector<std::string>& texts) {
  std::size_t count = 0;
  for (const std::string& text : texts)
    count += static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }));
  return count;
}

// The values in a text that was made from this pattern; nullopt: it was made from another.
std::optional<std::vector<std::string_view>> values_in(std::string_view text, const std::vector<std::string>& between) {
  if (!text.starts_with(between.front())) return {};
  std::vector<std::string_view> values;
  std::size_t from = between.front().size();
  for (std::size_t i = 1; i < between.size(); ++i) {
    const bool last = i + 1 == between.size();
    if (last && (text.size() < from + between[i].size() || !text.ends_with(between[i]))) return {};
    const std::size_t to = last ? text.size() - between[i].size() : text.find(between[i], from);
    if (to == std::string_view::npos) return {};
    values.push_back(text.substr(from, to - from));
    from = to + between[i].size();
  }
  return values;
}

// Quoted values are words of the user's, not of the window's.
bool ends_quoting(std::string_view text) {
  return text.ends_with('"') || text.ends_with('(') || text.ends_with("\u201C");
}

std::shared_ptr<const Catalogue> spoken;
std::unordered_map<std::string, std::string> filled_texts;  // translated already, in the spoken language
constexpr std::size_t most_filled_texts = 2000;

const Catalogue::Entry* found(std::string_view english) {
  return spoken ? spoken->find(english) : nullptr;
}

}  // namespace

std::optional<std::string> placeholders(std::string_view text) {
  std::map<int, std::string> values;
  int next = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view two = text.substr(at, 2);
    if (two == "{{" || two == "}}" || two == "%%") {
      at += 2;
    } else if (text[at] == '{') {
      if (!take_braces(text, at, next, values)) return {};
    } else if (text[at] != '%' || !take_percent(text, at, next, values)) {
      ++at;
    }
  }
  std::string all;
  for (const auto& [index, value] : values) all += fmt::format("{}{}", index, value);
  return all;
}

Catalogue Catalogue::from_mo(std::string_view bytes) {
  const MoFile file(bytes);
  Catalogue catalogue;
  for (std::uint32_t i = 0; i < file.count(); ++i) {
    const std::string_view english = file.english(i), translation = file.translation(i);
    if (english.empty() || translation.empty()) continue;  // the first entry is the file's header
    if (!placeholders(english) || placeholders(english) != placeholders(translation)) continue;
    const std::string_view shown = translation.substr(0, translation.find("##"));
    catalogue.entries_[std::string(english)] = {std::string(translation), fmt::format("{}###{}", shown, english)};
    catalogue.add_pattern(english, translation);
  }
  std::ranges::stable_sort(catalogue.patterns_, std::ranges::greater(),
                           [](const Pattern& pattern) { return num_letters(pattern.between); });
  return catalogue;
}

const Catalogue::Entry* Catalogue::find(std::string_view english) const {
  const auto entry = entries_.find(english);
  return entry == entries_.end() ? nullptr : &entry->second;
}

void Catalogue::add_pattern(std::string_view english, std::string_view translation) {
  constexpr std::size_t least_letters = 4;  // "{} of {}" would match texts of any other kind
  std::vector<int> indices, translated;
  Pattern pattern{between_placeholders(english, indices), {}};
  if (indices.empty() || num_letters(pattern.between) < least_letters) return;
  const std::vector<std::string> between = between_placeholders(translation, translated);
  for (std::size_t i = 0; i < between.size(); ++i) {
    if (i > 0) {
      const auto value = std::ranges::find(indices, translated[i - 1]);
      if (value == indices.end()) return;
      pattern.translation += fmt::format("{{{}}}", value - indices.begin());
    }
    for (const char c : between[i]) pattern.translation += std::string(c == '{' || c == '}' ? 2 : 1, c);
  }
  patterns_.push_back(std::move(pattern));
}

std::optional<std::string> Catalogue::match(std::string_view filled,
                                            const std::function<std::string(std::string_view)>& of_value) const {
  for (const Pattern& pattern : patterns_) {
    const auto values = values_in(filled, pattern.between);
    if (!values) continue;
    std::vector<std::string> translated;
    for (std::size_t i = 0; i < values->size(); ++i)
      translated.push_back(ends_quoting(pattern.between[i]) ? std::string((*values)[i]) : of_value((*values)[i]));
    fmt::dynamic_format_arg_store<fmt::format_context> store;
    for (const std::string& value : translated) store.push_back(value);
    return fmt::vformat(pattern.translation, store);
  }
  return {};
}

void speak(std::shared_ptr<const Catalogue> catalogue) {
  if (catalogue != spoken) filled_texts.clear();
  spoken = std::move(catalogue);
}

const char* tr(const char* english) {
  const Catalogue::Entry* entry = found(english);
  return entry ? entry->text.c_str() : english;
}

std::string_view tr(std::string_view english) {
  const Catalogue::Entry* entry = found(english);
  return entry ? std::string_view(entry->text) : english;
}

const char* tr_label(const char* english) {
  const Catalogue::Entry* entry = found(english);
  return entry ? entry->label.c_str() : english;
}

namespace {

std::optional<std::string> translation_of(std::string_view english);

// Translates a text that is a list or several sentences: each time the longest run of parts that has a translation, or
// one part unchanged. The first `ending` characters of the separator belong to the part before it.
std::string translated_parts(std::string_view english, std::string_view separator, std::size_t ending) {
  std::string all;
  while (true) {
    std::size_t end = english.size();
    std::string_view part = english;
    std::optional<std::string> translation = translation_of(part);
    while (!translation && end > 0) {
      const std::size_t before = english.rfind(separator, end - 1);
      if (before == std::string_view::npos) break;
      end = before;
      part = english.substr(0, end + ending);
      translation = translation_of(part);
    }
    all += translation.value_or(std::string(part));
    if (end == english.size()) return all;
    all += separator.substr(ending);
    english.remove_prefix(end + separator.size());
  }
}

// "rollout 0.85" keeps its number.
std::optional<std::string> translation_before_number(std::string_view english) {
  const std::size_t space = english.rfind(' ');
  if (space == std::string_view::npos || english.find_first_not_of("0123456789.-", space + 1) != std::string_view::npos)
    return {};
  const Catalogue::Entry* entry = spoken->find(english.substr(0, space));
  return entry ? std::optional(entry->text + std::string(english.substr(space))) : std::nullopt;
}

std::string translated_value(std::string_view value) {
  if (auto translation = translation_of(value)) return *std::move(translation);
  return value.find(", ") == std::string_view::npos ? std::string(value) : translated_parts(value, ", ", 0);
}

std::optional<std::string> translation_of(std::string_view english) {
  if (const Catalogue::Entry* entry = spoken->find(english)) return entry->text;
  if (auto translation = translation_before_number(english)) return translation;
  return spoken->match(english, translated_value);
}

}  // namespace

std::string tr_filled(std::string_view english) {
  if (!spoken || english.empty()) return std::string(english);
  std::string key(english);
  if (const auto known = filled_texts.find(key); known != filled_texts.end()) return known->second;
  std::optional<std::string> translation = translation_of(english);
  if (!translation) translation = translated_parts(english, ". ", 1);
  if (filled_texts.size() >= most_filled_texts) filled_texts.clear();
  return filled_texts[std::move(key)] = *std::move(translation);
}

std::string filled(fmt::string_view english, fmt::format_args values) {
  const Catalogue::Entry* entry = found({english.data(), english.size()});
  if (!entry) return fmt::vformat(english, values);
  try {
    return fmt::vformat(entry->text, values);
  } catch (const fmt::format_error&) {  // its placeholders have other types
    return fmt::vformat(english, values);
  }
}

}  // namespace attnscope
