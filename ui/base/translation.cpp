#include "base/translation.h"

#include <fmt/format.h>

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

std::shared_ptr<const Catalogue> spoken;

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
  }
  return catalogue;
}

const Catalogue::Entry* Catalogue::find(std::string_view english) const {
  const auto entry = entries_.find(english);
  return entry == entries_.end() ? nullptr : &entry->second;
}

void speak(std::shared_ptr<const Catalogue> catalogue) {
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
