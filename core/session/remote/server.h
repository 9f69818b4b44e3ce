// Lets remote windows watch a session over TCP, on a thread of its own that never blocks the session.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "session/remote/address.h"
#include "session/session.h"

namespace attnscope {

struct ServerOptions {
  RemoteAddress address = {};  // port 0: any free one
  std::string token = {};      // required from clients; empty: none is required
  bool control = false;        // clients may train, pause, step, pin and change live fields
};

// Options for an address in the format of remote_address. An address that others can reach requires a token: from the
// environment, or a new one. Throws AddressError, ConfigError, and std::runtime_error if the host is unknown.
ServerOptions guarded_server(const std::string& address, bool control);

inline constexpr std::size_t max_clients = 64;

// Returns true if the address can only be reached from this machine. Throws std::runtime_error if the host is unknown.
bool is_loopback(const RemoteAddress& address);

// Its memory is bounded: one event log as large as the run's own curves and frames; per client one question, one
// forward pass and some messages. A client that does not read, or sends invalid data, is disconnected.
class Server {
 public:
  // Starts listening. Throws std::runtime_error naming the address if it cannot. The session must outlive the server.
  Server(const ServerOptions& options, Session& session);
  ~Server();  // after every client has received everything, or after some seconds

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  RemoteAddress address() const;  // with the actual port
  std::size_t clients() const;    // connected now

  // Passes on the session's events, the first time from its start, or as a Recap. Must also be called, without events,
  // whenever the session wakes: viewers may have answers.
  void tell(std::vector<Event> events);

 private:
  class Desk;
  std::unique_ptr<Desk> desk_;
};

}  // namespace attnscope
