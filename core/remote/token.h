// What a station asks of those who want to watch: a secret that they share.
#pragma once

#include <string>

namespace attnscope {

// The name of the environment variable with the token that a station asks for; on a command line others could read it.
inline constexpr const char* token_variable = "ATTNSCOPE_TOKEN";

// What the variable says; empty: nothing. Throws ConfigError if that is too short to keep anybody out.
std::string token_of_environment();

// A new one: 128 random bits as text.
std::string random_token();

}  // namespace attnscope
