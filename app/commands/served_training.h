// `attnscope train --serve`: what trains is watched from elsewhere.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plain/channel.h"
#include "plain/metric_point.h"
#include "remote/server.h"
#include "session/session.h"

namespace attnscope {

// Of --serve and --allow-control. Where others can reach the address it has a token: the variable's, or one that is
// made and said. Throws AddressError, ConfigError, and std::runtime_error where there is no such host.
ServerOptions server_options(const std::string& address, bool allow_control);

class ServedTraining {
 public:
  // Says where it can be watched. Throws std::runtime_error where it cannot listen.
  ServedTraining(std::vector<HeldEngine> runs, const ServerOptions& server);

  using Tell = std::function<void(const MetricPoint& point, bool of_other)>;

  // Until the run's steps are done or `enough` says so, which it is asked several times a second. Then everything is
  // saved and the engines are the caller's again. Throws std::runtime_error when training failed.
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
