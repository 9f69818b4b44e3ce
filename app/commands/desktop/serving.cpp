#include "commands/desktop/serving.h"

#include <chrono>
#include <exception>
#include <utility>

namespace attnscope {
namespace {

bool is_ready(const auto& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

Serving::~Serving() {
  if (beginning_.valid()) beginning_.wait();
}

void Serving::begin(const WantedService& wanted) {
  if (beginning_.valid()) return;
  beginning_ = std::async(std::launch::async, [&session = session_, wanted] {
    ServerOptions options = guarded_server(wanted.address, wanted.control);
    return Begun{std::make_unique<Server>(options, session), options.token};
  });
}

void Serving::end() {
  service_.reset();
  if (server_)
    endings_.push_back(std::async(std::launch::async, [server = std::move(server_)]() mutable { server.reset(); }));
}

void Serving::hear(const std::vector<Event>& events) {
  for (const Event& event : events) recap_.hear(event);
  if (server_) server_->tell(events);
}

std::string Serving::inspect() {
  std::erase_if(endings_, [](const auto& ending) { return is_ready(ending); });
  if (server_) service_->clients = server_->clients();
  if (!beginning_.valid() || !is_ready(beginning_)) return "";
  try {
    Begun begun = beginning_.get();
    end();  // the previous server
    server_ = std::move(begun.server);
    service_ = Service{reachable_text(server_->address()), std::move(begun.token), 0};
    server_->tell(recap_.events());
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace attnscope
