// The access token of a server: a secret shared with its clients.
#pragma once

#include <string>

namespace attnscope {

// The environment variable with the server's token; on a command line, other users could read it.
inline constexpr const char* token_variable = "ATTNSCOPE_TOKEN";

// Returns the value of the variable; empty: unset. Throws ConfigError if it is too short to be secure.
std::string token_of_environment();

// Returns a new token: 128 random bits as text.
std::string random_token();

}  // namespace attnscope
