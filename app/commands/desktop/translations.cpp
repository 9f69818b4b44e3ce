#include "commands/desktop/translations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "commands/paths.h"
#include "files/storage/file.h"

namespace attnscope {
namespace {

constexpr std::size_t most_catalogue_bytes = 16U << 20U;

}  // namespace

Translations find_translations() {
  Translations translations;
  translations.system = system_language();
  for (std::size_t i = 0; i < language_codes.size(); ++i) {
    const std::filesystem::path file = asset_folder() / "translations" / fmt::format("{}.mo", language_codes[i]);
    std::error_code error;
    if (!std::filesystem::exists(file, error)) continue;
    try {
      const std::string bytes = read_file(file, most_catalogue_bytes);
      translations.catalogues[i] = std::make_shared<Catalogue>(Catalogue::from_mo(bytes));
    } catch (const std::exception& problem) {
      translations.complaints.push_back(fmt::format("{}: {}", file.string(), problem.what()));
    }
  }
  return translations;
}

Language system_language() {
  for (const char* variable : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const auto code = std::ranges::find(language_codes, std::string_view(value).substr(0, 2));
    return code == language_codes.end() ? Language::english : static_cast<Language>(code - language_codes.begin());
  }
  return Language::english;
}

}  // namespace attnscope
