#include "training/distributed/place.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "config/config.h"
#include "training/distributed/launch.h"

namespace attnscope {
namespace {

// Empty if it is not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int number(const char* name, int least, int most) {
  const std::string text = variable(name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return value;
  throw ConfigError(fmt::format("{}={} in the environment: expected a number from {} to {}", name, text, least, most));
}

void require_variable(const char* name, const char* beside) {
  if (!variable(name).empty()) return;
  throw ConfigError(fmt::format(
      "{} is set in the environment, but {} is not: a rank needs RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT", beside,
      name));
}

}  // namespace

std::optional<RankPlace> place_from_environment() {
  constexpr int most_ranks = 4096;
  if (variable("RANK").empty() && variable("WORLD_SIZE").empty()) return std::nullopt;
  require_variable("WORLD_SIZE", "RANK");
  require_variable("RANK", "WORLD_SIZE");
  RankPlace place;
  place.size = number("WORLD_SIZE", 1, most_ranks);
  place.rank = number("RANK", 0, place.size - 1);
  if (!variable("LOCAL_WORLD_SIZE").empty()) place.here = number("LOCAL_WORLD_SIZE", 1, place.size);
  place.file = variable(meeting_variable);
  if (!place.file.empty()) return place;
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT"}) require_variable(name, "RANK");
  place.host = variable("MASTER_ADDR");
  place.port = number("MASTER_PORT", 1, 65535);
  place.agent_listens = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  place.attempt = variable("TORCHELASTIC_RESTART_COUNT");
  place.interface = variable("GLOO_SOCKET_IFNAME");
  return place;
}

}  // namespace attnscope
