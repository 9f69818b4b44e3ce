// In the place of what needs sockets, where there is no library for them.
#include <stdexcept>

#include "remote/remote_session.h"
#include "remote/station.h"

namespace attnscope {
namespace {

[[noreturn]] void refuse() {
  throw std::runtime_error("this build has no networking: it needs asio (Debian: libasio-dev)");
}

}  // namespace

class Station::Desk {};
class RemoteSession::Line {};

bool is_loopback(const RemoteAddress&) {
  refuse();
}
Station::Station(const StationOptions&, Session&) {
  refuse();
}
Station::~Station() = default;
RemoteAddress Station::address() const {
  refuse();
}
std::size_t Station::watchers() const {
  refuse();
}
void Station::tell(std::vector<Event>) {
  refuse();
}

RemoteSession::RemoteSession(RemoteAddress, std::string, std::function<void()>) {
  refuse();
}
RemoteSession::~RemoteSession() = default;
void RemoteSession::post(Command) {
  refuse();
}
Conversation::News RemoteSession::poll() {
  refuse();
}
Conversation::News RemoteSession::end() {
  refuse();
}

Attachment RemoteSession::attachment() const {
  refuse();
}

}  // namespace attnscope
