#include "remote/station.h"
#include "remote/token.h"

namespace attnscope {

StationOptions guarded_station(const std::string& address, bool control) {
  StationOptions options{remote_address(address), token_of_environment(), control};
  if (options.token.empty() && !is_loopback(options.address)) options.token = random_token();
  return options;
}

}  // namespace attnscope
