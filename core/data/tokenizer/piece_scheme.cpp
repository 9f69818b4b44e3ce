#include "data/tokenizer/piece_scheme.h"

#include <algorithm>

namespace attnscope {
namespace {

constexpr std::string_view white_space = " \t\n\v\f\r";

struct Found {
  std::size_t at = std::string_view::npos;
  std::string_view special;
};

Found first_special(std::string_view text, std::span<const std::string> specials) {
  Found first;
  for (const std::string& special : specials) {
    const std::size_t at = text.find(special);
    if (at < first.at || (at == first.at && special.size() > first.special.size())) first = {at, special};
  }
  return first.at == std::string_view::npos ? Found() : first;
}

void strip_beside_specials(std::vector<TextPart>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string& text = parts[i].text;
    if (parts[i].special) continue;
    if (i + 1 < parts.size()) text.erase(text.find_last_not_of(white_space) + 1);
    if (i > 0) text.erase(0, std::min(text.size(), text.find_first_not_of(white_space)));
  }
}

}  // namespace

const std::vector<std::string>& PieceScheme::labels() const {
  static const std::vector<std::string> none;
  return none;
}

std::vector<TextPart> split_at_specials(std::string_view text, std::span<const std::string> specials, bool strip) {
  std::vector<TextPart> parts;
  while (!text.empty()) {
    const Found found = first_special(text, specials);
    parts.push_back({std::string(text.substr(0, found.at)), false});
    if (found.special.empty()) break;
    parts.push_back({std::string(found.special), true});
    text.remove_prefix(found.at + found.special.size());
  }
  if (strip) strip_beside_specials(parts);
  std::erase_if(parts, [](const TextPart& part) { return part.text.empty(); });
  return parts;
}

}  // namespace attnscope
