#include "session/session.h"

#include <utility>

#include "session/worker.h"

namespace attnscope {

Session::Session(std::function<std::unique_ptr<Engine>()> make_engine, std::function<void()> wake)
    : worker_(std::make_unique<Worker>(std::move(make_engine), std::move(wake))),
      thread_([this](const std::stop_token& stop) { worker_->run(stop); }) {}

Session::Session(std::vector<HeldEngine> runs, std::function<void()> wake)
    : worker_(std::make_unique<Worker>(std::move(runs), std::move(wake))),
      thread_([this](const std::stop_token& stop) { worker_->run(stop); }) {}

Session::~Session() {
  if (thread_.joinable()) end();
}

Session::News Session::end() {
  thread_.request_stop();
  post(Pause{});  // an idle worker sleeps until a command arrives: any command without side effects works
  thread_.join();
  return poll();
}

void Session::post(Command command) {
  worker_->orders.push(std::move(command));
}

void Session::ask(ViewerQuestion question) {
  worker_->orders.push(std::move(question));
}

std::vector<ViewerAnswer> Session::poll_viewer_requests() {
  return worker_->answers.take();
}

Session::News Session::poll() {
  return {worker_->events.take(), worker_->snapshots[RunSide::a].get(), worker_->snapshots[RunSide::b].get()};
}

}  // namespace attnscope
