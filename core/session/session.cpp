#include "session/session.h"

#include <utility>

#include "session/worker.h"

namespace attnscope {

Session::Session(std::function<std::unique_ptr<Engine>()> make_engine, std::function<void()> wake)
    : worker_(std::make_unique<Worker>(std::move(make_engine), std::move(wake))),
      thread_([this](const std::stop_token& stop) { worker_->run(stop); }) {}

Session::~Session() {
  if (thread_.joinable()) end();
}

Session::News Session::end() {
  thread_.request_stop();
  worker_->commands.push(Pause{});  // an idle worker sleeps until a command comes: any that takes nothing back will do
  thread_.join();
  return poll();
}

void Session::post(Command command) {
  worker_->commands.push(std::move(command));
}

Session::News Session::poll() {
  return {worker_->events.take(), worker_->snapshot.get(), worker_->other_snapshot.get()};
}

}  // namespace attnscope
