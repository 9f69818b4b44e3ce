#include "session/remote/token.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <random>

#include "config/config.h"

namespace attnscope {
namespace {

constexpr std::size_t shortest_token = 16;

std::uint64_t random_bits() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

std::string token_of_environment() {
  const char* const variable = std::getenv(token_variable);
  std::string token = variable == nullptr ? "" : variable;
  if (!token.empty() && token.size() < shortest_token)
    throw ConfigError(fmt::format("{} is shorter than {} characters", token_variable, shortest_token));
  return token;
}

std::string random_token() {
  return fmt::format("{:016x}{:016x}", random_bits(), random_bits());
}

}  // namespace attnscope
