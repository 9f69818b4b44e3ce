// Packets as bytes: MessagePack, by the fields that wire_fields.h tells.
#pragma once

#include <string>
#include <string_view>

#include "plain/error.h"
#include "remote/packets.h"

namespace attnscope {

// Bytes that are not what they should be; the message says which part of what.
class WireError : public Error {
 public:
  using Error::Error;
};

std::string wire_bytes(const ToServer& packet);
std::string wire_bytes(const ToClient& packet);

// Throw WireError for anything but what was written by the functions above: other types, too few or too many fields,
// values that their type or their enumeration has not, matrices whose size is not that of their numbers, what is nested
// without end.
ToServer read_to_server(std::string_view bytes);
ToClient read_to_client(std::string_view bytes);

}  // namespace attnscope
