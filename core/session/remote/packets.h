// The protocol between a server and its clients. Both start with the preamble. Each packet is its length in bytes (32
// bits, most significant byte first) followed by MessagePack (wire.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "messages/messages.h"
#include "messages/snapshot.h"

namespace attnscope {

// The preamble: these four bytes, then the protocol version as four more. Nothing else is processed before it is
// verified.
inline constexpr std::string_view remote_magic = "attn";
// Incremented with every change to a packet or its contents: both sides must have the same version.
inline constexpr std::uint32_t remote_protocol = 12;

// Size limits: longer packets are neither read nor written; their content is omitted.
inline constexpr std::size_t largest_greeting = std::size_t{4} << 10;  // before the token is verified
inline constexpr std::size_t largest_command = std::size_t{256} << 10;
inline constexpr std::size_t largest_news = std::size_t{64} << 20;  // from a server
inline constexpr std::size_t largest_read = 2 * largest_news;       // memory of a packet's fields

// ---- from a client

struct Hello {
  std::string token;          // empty: the client has none
  std::uint64_t session = 0;  // the session of an earlier connection, from its Welcome; 0: none
  std::uint64_t next = 0;     // the first event of that session not yet received
};
using ToServer = std::variant<Hello, Command>;

// ---- to a client

struct Welcome {
  std::uint64_t session = 0;  // a different one: earlier events belonged to another training
  bool control = false;       // commands that change the run are accepted
};
struct Refused {  // the connection is closed
  std::string why;
};
struct LoggedEvent {  // an event for every client: later or reconnecting clients get those since the run was opened
  std::uint64_t number = 0;
  Event event;
};
struct TransientEvent {  // an event that is not stored
  Event event;
};
struct ProbeReply {  // the reply to the client's own Probe
  std::shared_ptr<const Snapshot> snapshot;
  RunSide side = RunSide::a;
};
struct Alive {};  // keep-alive, without content
using ToClient = std::variant<Welcome, Refused, LoggedEvent, TransientEvent, ProbeReply, Alive>;

}  // namespace attnscope
