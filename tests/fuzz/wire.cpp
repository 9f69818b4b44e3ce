// Messages from a viewer and from a server.
#include "session/remote/wire.h"

#include <string>
#include <string_view>

#include "fuzz.h"

namespace {

// Anything accepted as a packet must be read back as the same packet after it is written.
template <typename Packet>
void read_as(std::string_view bytes, Packet (*read)(std::string_view)) {
  attnscope::fuzz::reading<attnscope::WireError>([&] {
    const std::string written = attnscope::wire_bytes(read(bytes));
    attnscope::fuzz::require(attnscope::wire_bytes(read(written)) == written);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = attnscope::fuzz::view(data, size);
  read_as(bytes, attnscope::read_to_server);
  read_as(bytes, attnscope::read_to_client);
  return 0;
}
