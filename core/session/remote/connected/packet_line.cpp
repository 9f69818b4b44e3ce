#include "session/remote/connected/packet_line.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "session/remote/packets.h"
#include "session/remote/wire.h"

namespace attnscope {
namespace {

constexpr std::size_t number_size = 4;

std::string number_bytes(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xFF);
  return bytes;
}

std::uint32_t number_of(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

asio::awaitable<std::string> read_bytes(Tcp::socket& socket, std::size_t count) {
  std::string bytes(count, '\0');
  co_await asio::async_read(socket, asio::buffer(bytes), asio::use_awaitable);
  co_return bytes;
}

}  // namespace

std::string preamble() {
  return std::string(remote_magic) + number_bytes(remote_protocol);
}

asio::awaitable<void> read_preamble(Tcp::socket& socket) {
  const std::string magic = co_await read_bytes(socket, remote_magic.size());
  if (magic != remote_magic) throw WireError("the server there is not attnscope");
  const std::uint32_t protocol = number_of(co_await read_bytes(socket, number_size));
  if (protocol != remote_protocol)
    throw WireError(fmt::format("the attnscope there speaks protocol {}, this one {}: both must have the same version",
                                protocol, remote_protocol));
}

asio::awaitable<std::string> read_packet(Tcp::socket& socket, std::size_t most) {
  const std::size_t size = number_of(co_await read_bytes(socket, number_size));
  if (size > most) throw WireError(fmt::format("a packet of {} bytes; at most {} are allowed", size, most));
  co_return co_await read_bytes(socket, size);
}

std::string framed(const std::string& packet) {
  return number_bytes(static_cast<std::uint32_t>(packet.size())) + packet;
}

}  // namespace attnscope
