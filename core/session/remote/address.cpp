#include "session/remote/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <vector>

namespace attnscope {
namespace {

std::uint16_t port_of(std::string_view digits, std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw AddressError(fmt::format("{}: not an address; expected PORT, HOST:PORT or [IPv6]:PORT", text));
  return port;
}

// The name of this machine, if it has an address.
std::vector<std::string> own_names() {
  std::array<char, 256> name{};
  addrinfo* found = nullptr;
  if (::gethostname(name.data(), name.size() - 1) != 0 || ::getaddrinfo(name.data(), nullptr, nullptr, &found) != 0)
    return {};
  ::freeaddrinfo(found);
  return {name.data()};
}

// The addresses of this machine that other machines can reach.
std::vector<std::string> own_addresses(bool ipv6) {
  std::vector<std::string> addresses;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return addresses;
  for (const ifaddrs* it = all; it != nullptr; it = it->ifa_next) {
    const int family = it->ifa_addr == nullptr ? AF_UNSPEC : it->ifa_addr->sa_family;
    if ((family != AF_INET && !(ipv6 && family == AF_INET6)) || (it->ifa_flags & IFF_UP) == 0 ||
        (it->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    std::array<char, NI_MAXHOST> text{};
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (::getnameinfo(it->ifa_addr, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) continue;
    const std::string address = text.data();
    if (address.find('%') == std::string::npos) addresses.push_back(address);  // others cannot use link-local ones
  }
  ::freeifaddrs(all);
  return addresses;
}

}  // namespace

std::string reachable_text(const RemoteAddress& address) {
  const bool ipv6 = address.host == "::";
  if (address.host != "0.0.0.0" && !ipv6) return address_text(address);
  std::vector<std::string> texts;
  for (const std::vector<std::string>& hosts : {own_names(), own_addresses(ipv6)})
    for (const std::string& host : hosts) texts.push_back(address_text({host, address.port}));
  if (texts.empty()) texts.push_back(address_text({.port = address.port}));
  return fmt::format("{}", fmt::join(texts, ", "));
}

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
