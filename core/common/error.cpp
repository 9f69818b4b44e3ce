#include "common/error.h"

#include <string_view>

namespace attnscope {
namespace {

// Returns true for a UTF-8 continuation byte.
bool goes_on(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// Retains both ends: the start says where, the end what is allowed.
std::string shortened(const std::string& message) {
  constexpr std::size_t most_before = longest_message * 6 / 10, most_after = longest_message - most_before;
  if (message.size() <= longest_message) return message;
  std::size_t end = most_before, begin = message.size() - most_after;
  while (end > 0 && goes_on(message[end])) --end;
  while (begin < message.size() && goes_on(message[begin])) ++begin;
  const std::string_view whole = message;
  return std::string(whole.substr(0, end)) + " … " + std::string(whole.substr(begin));
}

}  // namespace

Error::Error(const std::string& message) : std::runtime_error(shortened(message)) {}

}  // namespace attnscope
