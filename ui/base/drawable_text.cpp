#include "base/drawable_text.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

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

DrawableText::DrawableText(std::string_view text) : text_(text) {
  if (sizeof(ImWchar) > 2 || std::ranges::none_of(text, is_long)) return;
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
