// The address of a server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/error.h"

namespace attnscope {

struct RemoteAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
};

class AddressError : public Error {
 public:
  using Error::Error;
};

// Parses "PORT", "HOST:PORT" or "[IPv6]:PORT"; without a host the address is local only. Throws AddressError, which
// quotes the text.
RemoteAddress remote_address(std::string_view text);

// In the format read by remote_address.
std::string address_text(const RemoteAddress& address);

// The addresses to type elsewhere to connect: for 0.0.0.0 and ::, which mean every address of this machine, its name
// and its addresses in the network, separated by commas; otherwise address_text.
std::string reachable_text(const RemoteAddress& address);

}  // namespace attnscope
