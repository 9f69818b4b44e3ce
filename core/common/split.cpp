#include "common/split.h"

namespace attnscope {

std::vector<std::string_view> split(std::string_view text, std::string_view mark) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(mark); end != std::string_view::npos; end = text.find(mark)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + mark.size());
  }
  parts.push_back(text);
  return parts;
}

std::pair<std::string_view, std::string_view> halves(std::string_view text, std::string_view mark) {
  const std::size_t end = text.find(mark);
  if (end == std::string_view::npos) return {text, {}};
  return {text.substr(0, end), text.substr(end + mark.size())};
}

}  // namespace attnscope
