#include "base/drawable_text.h"

#include <fmt/format.h>
#include <fribidi.h>
#include <imgui.h>

#include <algorithm>
#include <vector>

#include "base/shaping.h"

namespace attnscope {
namespace {

constexpr std::size_t long_glyph = 4;  // length in UTF-8 of a character above U+FFFF, in bytes

// Decodes the four-byte character at the start of `text`; 0 if there is none.
unsigned long_glyph_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  if (text.size() < long_glyph || byte(0) < 0xF0) return 0;
  unsigned sign = byte(0) & 0x07U;
  for (std::size_t i = 1; i < long_glyph; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
    sign = sign << 6 | (byte(i) & 0x3FU);
  }
  return sign;
}

bool is_long(char c) {
  return static_cast<unsigned char>(c) >= 0xF0;
}

}  // namespace

// Hebrew to N'Ko, Samaritan to Arabic Extended, and the presentation forms.
bool is_bidirectional(std::string_view text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]), next = static_cast<unsigned char>(text[i + 1]);
    if (lead >= 0xD6 && lead <= 0xDF) return true;
    if (lead == 0xE0 && next >= 0xA0 && next <= 0xA3) return true;
    if (lead == 0xEF && next >= 0xAC && next <= 0xBB) return true;
  }
  return false;
}

bool changes_when_drawn(std::string_view text) {
  return is_bidirectional(text) || needs_shaping(text);
}

std::string visual_order(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const auto size = static_cast<FriBidiStrIndex>(line.size());
    std::vector<FriBidiChar> logical(line.size() + 1), visual(line.size() + 1);
    const FriBidiStrIndex length = fribidi_charset_to_unicode(FRIBIDI_CHAR_SET_UTF8, line.data(), size, logical.data());
    FriBidiParType direction = FRIBIDI_PAR_ON;
    std::string bytes(line.size() * 4 + 1, '\0');  // a presentation form may take more bytes than its letter
    if (fribidi_log2vis(logical.data(), length, &direction, visual.data(), nullptr, nullptr, nullptr)) {
      const auto end = std::remove(visual.begin(), visual.begin() + length, FriBidiChar{FRIBIDI_CHAR_FILL});
      const auto drawn = static_cast<FriBidiStrIndex>(end - visual.begin());
      bytes.resize(static_cast<std::size_t>(
          fribidi_unicode_to_charset(FRIBIDI_CHAR_SET_UTF8, visual.data(), drawn, bytes.data())));
    } else {
      bytes = line;  // out of memory
    }
    result += bytes;
    text.remove_prefix(line.size());
    if (text.starts_with('\n')) {
      result += '\n';
      text.remove_prefix(1);
    }
  }
  return result;
}

DrawableText::DrawableText(std::string_view text) : text_(text) {
  std::string drawn;
  if (changes_when_drawn(text)) {
    drawn = is_bidirectional(text) ? visual_order(text) : std::string(text);
    drawn = shaper().shaped(drawn);
    text = drawn;
    replaced_ = drawn;
    text_ = replaced_;
  }
  if (sizeof(ImWchar) > 2 || std::ranges::none_of(text, is_long)) return;
  replaced_.clear();
  while (!text.empty()) {
    const unsigned sign = long_glyph_of(text);
    if (sign != 0)
      replaced_ += fmt::format("[{:X}]", sign);
    else
      replaced_ += text.front();
    text.remove_prefix(sign != 0 ? long_glyph : 1);
  }
  text_ = replaced_;
}

}  // namespace attnscope
