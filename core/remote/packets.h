// What a station and those who watch it from elsewhere say to each other. Both begin with the preamble; from then on
// each packet is its length in bytes (32 bits, the most significant byte first) and then MessagePack (wire.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "plain/messages.h"
#include "plain/snapshot.h"

namespace attnscope {

// The preamble: these four bytes, then the protocol as four more. Nothing else is believed before it was right.
inline constexpr std::string_view remote_magic = "attn";
// Raised whenever a packet or anything in it is told otherwise: both sides must have the same.
inline constexpr std::uint32_t remote_protocol = 4;

// No longer packet is read, nor written: what is longer is left out.
inline constexpr std::size_t largest_greeting = std::size_t{4} << 10;  // before the token was right
inline constexpr std::size_t largest_command = std::size_t{256} << 10;
inline constexpr std::size_t largest_news = std::size_t{64} << 20;  // of a station

// ---- from a watcher

struct Hello {
  std::string token;          // empty: the watcher has none
  std::uint64_t session = 0;  // that it has watched before, as the Welcome named it; 0: none
  std::uint64_t next = 0;     // of that session the first event that it has not heard
};
using ToServer = std::variant<Hello, Command>;

// ---- to a watcher

struct Welcome {
  std::uint64_t session = 0;  // another one: what was heard before was of another training
  bool control = false;       // whether commands that change the run are obeyed
};
struct Refused {  // the connection ends
  std::string why;
};
struct LoggedEvent {  // an event that none misses: who comes later, or again, hears those since the run was opened
  std::uint64_t number = 0;
  Event event;
};
struct TransientEvent {  // an event of the moment
  Event event;
};
struct ProbeReply {  // the answer to the watcher's own Probe
  std::shared_ptr<const Snapshot> snapshot;
  bool of_other = false;  // of the run that the present one is compared with
};
struct Alive {};  // nothing new
using ToClient = std::variant<Welcome, Refused, LoggedEvent, TransientEvent, ProbeReply, Alive>;

}  // namespace attnscope
