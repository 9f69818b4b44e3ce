// A socket, packet by packet. For this folder alone: asio stays in it.
#pragma once

#include <asio.hpp>
#include <cstddef>
#include <string>

namespace attnscope {

using Tcp = asio::ip::tcp;

// With which both sides begin.
std::string preamble();

// Throws WireError unless the other side is of this program and protocol; std::system_error if the line ends.
asio::awaitable<void> read_preamble(Tcp::socket& socket);

// The bytes of the next packet. Throws WireError if it has more than `most`; std::system_error if the line ends.
asio::awaitable<std::string> read_packet(Tcp::socket& socket, std::size_t most);

// The packet, behind its length.
std::string framed(const std::string& packet);

}  // namespace attnscope
