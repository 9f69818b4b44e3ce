#include "session/remote/server.h"
#include "session/remote/token.h"

namespace attnscope {

ServerOptions guarded_server(const std::string& address, bool control) {
  ServerOptions options{remote_address(address), token_of_environment(), control};
  if (options.token.empty() && !is_loopback(options.address)) options.token = random_token();
  return options;
}

}  // namespace attnscope
