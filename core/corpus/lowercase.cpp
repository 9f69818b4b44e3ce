#include "corpus/lowercase.h"

#include <clocale>
#include <cwchar>
#include <cwctype>

#include "corpus/corpus.h"

namespace attnscope {
namespace {

// For this thread, while it lives.
class Utf8Locale {
 public:
  Utf8Locale() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (locale_ == nullptr) throw CorpusError("the system has no locale C.UTF-8, which knows small letters");
    before_ = uselocale(locale_);
  }
  ~Utf8Locale() {
    uselocale(before_);
    freelocale(locale_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t locale_;
  locale_t before_ = nullptr;
};

}  // namespace

std::string lowercased(std::string_view text) {
  const Utf8Locale utf8;
  std::string result;
  result.reserve(text.size());
  std::mbstate_t reading{};
  std::mbstate_t writing{};
  char bytes[16];  // MB_LEN_MAX
  while (!text.empty()) {
    wchar_t letter = 0;
    const std::size_t length = std::mbrtowc(&letter, text.data(), text.size(), &reading);
    if (length == 0 || length > text.size()) return result.append(text);  // NUL or no UTF-8: the rest as it stands
    result.append(bytes,
                  std::wcrtomb(bytes, static_cast<wchar_t>(std::towlower(static_cast<std::wint_t>(letter))), &writing));
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace attnscope
