// `attnscope train --serve`: training with remote viewers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/channel.h"
#include "messages/metric_point.h"
#include "session/remote/server.h"
#include "session/session.h"

namespace attnscope {

// Parses --serve and --allow-control. If the address is reachable from other machines, a token is required: from the
// environment variable, or generated and printed. Throws AddressError, ConfigError, and std::runtime_error for an
// unknown host.
ServerOptions server_options(const std::string& address, bool allow_control);

class ServedTraining {
 public:
  // Prints the address for viewers. Throws std::runtime_error if it cannot listen.
  ServedTraining(std::vector<HeldEngine> runs, const ServerOptions& server);

  using Tell = std::function<void(const MetricPoint& point, RunSide side)>;

  // Trains until the run's steps are done or `enough`, polled several times a second, returns true. Then saves
  // everything and returns the engines to the caller. Throws std::runtime_error if training failed.
  void train(const std::function<bool()>& enough, const Tell& tell,
             const std::function<void(const std::string&)>& complain);

 private:
  void hear(std::vector<Event> events, const Tell& tell, const std::function<void(const std::string&)>& complain);
  void heed(const Status& status);

  const bool allow_control_;
  bool over_ = false;
  std::string failure_;
  Bell bell_;
  Session session_;
  Server server_;
};

}  // namespace attnscope
