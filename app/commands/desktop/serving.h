// Serves the window's own run to remote viewers.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/recap.h"
#include "session/remote/server.h"
#include "shell/app_state.h"

namespace attnscope {

// Only the destructor blocks: starting the server and disconnecting its viewers happen on a separate thread.
class Serving {
 public:
  // The session must outlive this, and must not have ended before.
  explicit Serving(Session& session) : session_(session) {}
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  void begin(const WantedService& wanted);
  void end();

  // Takes all events of the session from the first on; also called without events whenever the session wakes up.
  void hear(const std::vector<Event>& events);

  // Processes the results of the threads. Returns the reason if a server could not start; else empty.
  std::string inspect();

  // Empty: no server, or not yet.
  const std::optional<Service>& service() const { return service_; }

 private:
  struct Begun {
    std::unique_ptr<Server> server;
    std::string token;
  };

  Session& session_;
  Recap recap_;
  std::future<Begun> beginning_;
  std::unique_ptr<Server> server_;
  std::optional<Service> service_;
  std::vector<std::future<void>> endings_;
};

}  // namespace attnscope
