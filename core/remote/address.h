// Where a station is.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace attnscope {

struct RemoteAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
};

class AddressError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// "PORT", "HOST:PORT" or "[IPv6]:PORT"; without a host this machine alone. Throws AddressError, which quotes the text.
RemoteAddress remote_address(std::string_view text);

// As remote_address reads it.
std::string address_text(const RemoteAddress& address);

}  // namespace attnscope
