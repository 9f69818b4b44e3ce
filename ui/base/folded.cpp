#include "base/folded.h"

#include <cctype>

namespace attnscope {

std::string folded(std::string_view text) {
  // For À (U+00C0) to ÿ (U+00FF), indexed by the byte after C3 in UTF-8; a dot: unchanged.
  constexpr std::string_view plain = "aaaaaa.ceeeeiiii.nooooo..uuuuy..aaaaaa.ceeeeiiii.nooooo..uuuuy.y";
  static_assert(plain.size() == 64);
  std::string small;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool accented = byte == 0xC3 && next >= 0x80 && next < 0xC0 && plain[next - 0x80] != '.';
    if (accented) {
      small += plain[next - 0x80];
      ++i;
    } else if (byte == 0xC5 && (next == 0x92 || next == 0x93)) {  // œ
      small += "oe";
      ++i;
    } else {
      small += static_cast<char>(std::tolower(byte));
    }
  }
  return small;
}

}  // namespace attnscope
