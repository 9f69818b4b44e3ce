#include "common/unicode_form.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>

#include "common/utf8.h"

namespace attnscope {
namespace {

std::string with_plain_spaces(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  const auto size = static_cast<std::int32_t>(text.size());
  for (std::int32_t begin = 0, end = 0; begin < size; begin = end) {
    UChar32 c = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"  // of the macro
    U8_NEXT(text.data(), end, size, c);
#pragma GCC diagnostic pop
    if (u_charType(c) == U_SPACE_SEPARATOR)
      result += ' ';
    else
      result += text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }
  return result;
}

}  // namespace

std::string nfc(std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (text.size() > INT32_MAX || std::ranges::all_of(text, is_ascii) || utf8_fault(text)) return std::string(text);
  std::string result;
  icu::StringByteSink<std::string> sink(&result, static_cast<std::int32_t>(text.size()));
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2* form = icu::Normalizer2::getNFCInstance(error);
  if (U_SUCCESS(error))
    form->normalizeUTF8(0, icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())), sink, nullptr, error);
  return U_SUCCESS(error) ? result : std::string(text);
}

std::string composed(std::string_view text) {
  return utf8_fault(text) ? std::string(text) : with_plain_spaces(nfc(text));
}

std::string_view without_line_end(std::string_view line) {
  if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace attnscope
