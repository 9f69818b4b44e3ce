#include "compute/served_training.h"

#include <chrono>
#include <stdexcept>
#include <utility>
#include <variant>

#include "commands/say.h"
#include "session/remote/token.h"

namespace attnscope {
namespace {

constexpr std::chrono::milliseconds longest_deafness{100};  // for Ctrl-C, and for the time limit

}  // namespace

ServerOptions server_options(const std::string& address, bool allow_control) {
  ServerOptions options = guarded_server(address, allow_control);
  if (options.token != token_of_environment()) say("to attach a window, set {}={}", token_variable, options.token);
  return options;
}

ServedTraining::ServedTraining(std::vector<HeldEngine> runs, const ServerOptions& server)
    : allow_control_(server.control), session_(std::move(runs), [this] { bell_.ring(); }), server_(server, session_) {
  say("serving at {}: open it with attnscope attach", reachable_text(server_.address()));
}

void ServedTraining::train(const std::function<bool()>& enough, const Tell& tell,
                           const std::function<void(const std::string&)>& complain) {
  session_.post(Train{});
  while (!over_ && !enough()) {
    bell_.wait_for(longest_deafness);
    hear(session_.poll().events, tell, complain);
  }
  hear(session_.end().events, tell, complain);
  if (!failure_.empty()) throw std::runtime_error(failure_);
}

void ServedTraining::hear(std::vector<Event> events, const Tell& tell,
                          const std::function<void(const std::string&)>& complain) {
  for (const Event& event : events) {
    if (const auto* point = std::get_if<MetricPoint>(&event)) tell(*point, RunSide::a);
    if (const auto* of_b = std::get_if<OfRunB>(&event))
      if (const auto* point = std::get_if<MetricPoint>(&of_b->what)) tell(*point, RunSide::b);
    if (const auto* message = std::get_if<Message>(&event); message && message->severity != Severity::info)
      complain(message->text);
    if (const auto* diverged = std::get_if<Diverged>(&event))
      failure_ = fmt::format("step {}: {} became NaN or infinite", diverged->step, diverged->what);
    if (const auto* status = std::get_if<Status>(&event)) heed(*status);
  }
  server_.tell(std::move(events));
}

// A viewer may have paused the run; without viewers nobody could continue it.
void ServedTraining::heed(const Status& status) {
  const bool stopped = status.activity == Activity::paused && !allow_control_;
  if (stopped && failure_.empty()) failure_ = fmt::format("training stopped at step {}", status.step);
  if (status.activity == Activity::finished || !failure_.empty()) over_ = true;
}

}  // namespace attnscope
