// Replaces the networking code if the library is missing.
#include <stdexcept>

#include "session/remote/remote_session.h"
#include "session/remote/server.h"

namespace attnscope {
namespace {

[[noreturn]] void refuse() {
  throw std::runtime_error("this build has no networking: it needs asio (Debian: libasio-dev)");
}

}  // namespace

class Server::Desk {};
class RemoteSession::Line {};

bool is_loopback(const RemoteAddress&) {
  refuse();
}
Server::Server(const ServerOptions&, Session&) {
  refuse();
}
Server::~Server() = default;
RemoteAddress Server::address() const {
  refuse();
}
std::size_t Server::clients() const {
  refuse();
}
void Server::tell(std::vector<Event>) {
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
