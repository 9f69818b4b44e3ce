// Packets over a socket. Private to this folder, so that asio is not included elsewhere.
#pragma once

#include <asio.hpp>
#include <cstddef>
#include <string>

namespace attnscope {

using Tcp = asio::ip::tcp;

// The first bytes sent by both sides.
std::string preamble();

// Throws WireError if the other side has another program or protocol; std::system_error if the connection is lost.
asio::awaitable<void> read_preamble(Tcp::socket& socket);

// Returns the bytes of the next packet. Throws WireError if it has more than `most`; std::system_error if the
// connection is lost.
asio::awaitable<std::string> read_packet(Tcp::socket& socket, std::size_t most);

// Returns the packet with its length in front.
std::string framed(const std::string& packet);

}  // namespace attnscope
