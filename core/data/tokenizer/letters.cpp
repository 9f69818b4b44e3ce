#include "data/tokenizer/letters.h"

#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <memory>

namespace attnscope {

std::string decomposed(std::string_view text, bool compatibility) {
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2* const form =
      compatibility ? icu::Normalizer2::getNFKDInstance(error) : icu::Normalizer2::getNFDInstance(error);
  std::string result;
  icu::StringByteSink<std::string> sink(&result, static_cast<std::int32_t>(text.size()));
  const icu::StringPiece piece(text.data(), static_cast<std::int32_t>(text.size()));
  if (U_SUCCESS(error)) form->normalizeUTF8(0, piece, sink, nullptr, error);
  return U_SUCCESS(error) ? result : std::string(text);
}

std::string lowercase(std::string_view text) {
  std::string result;
  for_each_letter(text, [&](UChar32 c, std::string_view bytes) {
    if (c >= 0 && u_hasBinaryProperty(c, UCHAR_CHANGES_WHEN_LOWERCASED) != 0)
      icu::UnicodeString(c).toLower(icu::Locale::getRoot()).toUTF8String(result);
    else
      result += bytes;
  });
  return result;
}

std::string without(std::string_view text, std::uint32_t categories) {
  std::string result;
  for_each_letter(text, [&](UChar32 c, std::string_view bytes) {
    if ((U_GET_GC_MASK(c) & categories) == 0) result += bytes;
  });
  return result;
}

std::vector<std::string_view> graphemes(std::string_view text) {
  UErrorCode error = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), error));
  UText* const utf8 = utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &error);
  const std::unique_ptr<UText, UText* (*)(UText*)> closes(utf8, utext_close);
  if (U_SUCCESS(error)) breaks->setText(utf8, error);
  if (U_FAILURE(error)) return {text};
  std::vector<std::string_view> clusters;
  for (std::int32_t begin = breaks->first(), end = breaks->next(); end != icu::BreakIterator::DONE;
       begin = end, end = breaks->next())
    clusters.push_back(text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  return clusters;
}

}  // namespace attnscope
