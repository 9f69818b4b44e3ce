// The window's own run, watched from elsewhere.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "remote/server.h"
#include "session/recap.h"
#include "shell/app_state.h"

namespace attnscope {

// Nothing here waits but the destructor: a station begins to listen, and takes leave of its watchers, on a thread of
// its own.
class Serving {
 public:
  // The session must outlive it, and not have ended before it.
  explicit Serving(Session& session) : session_(session) {}
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  void begin(const WantedService& wanted);
  void end();

  // All that the session reports, from its first event on; also, with nothing, whenever it has woken.
  void hear(const std::vector<Event>& events);

  // Takes note of what the threads have done. Returns why there is no station, where one was to be; else nothing.
  std::string inspect();

  // None: nobody can watch, or not yet.
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
