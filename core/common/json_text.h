// Parses JSON from untrusted files.
#pragma once

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/error.h"

namespace attnscope {

class JsonTooDeep : public Error {
 public:
  using Error::Error;
};

inline constexpr int most_json_depth = 32;  // nested lists and objects; attnscope's own files have six levels

// The library's message without its code, "[json.exception.parse_error.101] ".
inline const char* message_of(const nlohmann::json::exception& error) {
  const char* code = std::strchr(error.what(), ']');
  return code == nullptr ? error.what() : code + 2;
}

// Throws JsonTooDeep, or nlohmann::json::parse_error for invalid JSON. Unbounded nesting would overflow the stack,
// because values are destroyed recursively.
template <typename Json = nlohmann::json>
Json parse_json(std::string_view text) {
  const auto shallow = [](int depth, nlohmann::json::parse_event_t, Json&) {
    if (depth > most_json_depth)
      throw JsonTooDeep("more than " + std::to_string(most_json_depth) + " nested lists and objects");
    return true;
  };
  return Json::parse(text, shallow);
}

}  // namespace attnscope
