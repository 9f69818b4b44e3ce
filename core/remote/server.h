// Lets windows elsewhere watch a session, over TCP: a thread of its own, which never makes the session wait.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "remote/address.h"
#include "session/session.h"

namespace attnscope {

struct ServerOptions {
  RemoteAddress address = {};  // port 0: a free one
  std::string token = {};      // that a watcher must have; empty: none is asked for
  bool control = false;        // watchers may train, pause, step, pin and change what is live
};

// For an address as remote_address reads it: where others can reach it a token is asked for, that of the environment or
// a new one. Throws AddressError, ConfigError, and std::runtime_error if there is no such host.
ServerOptions guarded_server(const std::string& address, bool control);

inline constexpr std::size_t max_clients = 64;

// True if the address can be reached from this machine alone. Throws std::runtime_error if there is no such host.
bool is_loopback(const RemoteAddress& address);

// What it holds is bounded: of what happened to the run a log as long as the run's own curves and frames, and for each
// watcher one question, one look and some messages. A watcher that does not read, or not what it should, is let go.
class Server {
 public:
  // Listens from here on. Throws std::runtime_error if it cannot, naming the address. The session must outlive it.
  Server(const ServerOptions& options, Session& session);
  ~Server();  // after every watcher has heard all, or some seconds

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  RemoteAddress address() const;  // with the port that it got
  std::size_t clients() const;    // now

  // What the session has reported, the first time from its beginning, or a Recap of it. Also to be called, with
  // nothing, whenever the session has woken: guests may have answers.
  void tell(std::vector<Event> events);

 private:
  class Desk;
  std::unique_ptr<Desk> desk_;
};

}  // namespace attnscope
