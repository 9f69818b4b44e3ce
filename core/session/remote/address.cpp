#include "session/remote/address.h"

#include <fmt/format.h>

#include <charconv>

namespace attnscope {
namespace {

std::uint16_t port_of(std::string_view digits, std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw AddressError(fmt::format("{}: not an address; expected PORT, HOST:PORT or [IPv6]:PORT", text));
  return port;
}

}  // namespace

RemoteAddress remote_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {.port = port_of(text, text)};
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const bool several_colons = host.find(':') != std::string_view::npos;
  if (host.empty() || (several_colons && !bracketed))
    throw AddressError(fmt::format("{}: not an address; expected PORT, HOST:PORT or [IPv6]:PORT", text));
  return {std::string(host), port_of(text.substr(colon + 1), text)};
}

std::string address_text(const RemoteAddress& address) {
  const bool ipv6 = address.host.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(ipv6 ? "[{}]:{}" : "{}:{}"), address.host, address.port);
}

}  // namespace attnscope
