// Encodes packets as MessagePack: every message is the list of its fields (wire_fields.h).
#pragma once

#include <string>
#include <string_view>

#include "common/error.h"
#include "session/remote/packets.h"

namespace attnscope {

// Malformed bytes; the message names the invalid part of the packet.
class WireError : public Error {
 public:
  using Error::Error;
};

std::string wire_bytes(const ToServer& packet);
std::string wire_bytes(const ToClient& packet);

// Throw WireError for anything not written by the functions above: other types, too few or too many fields, invalid
// values or enumerators, matrices whose shape does not fit their data, unbounded nesting.
ToServer read_to_server(std::string_view bytes);
ToClient read_to_client(std::string_view bytes);

}  // namespace attnscope
