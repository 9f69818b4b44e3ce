// JSON out of files that anybody may have written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "plain/error.h"

namespace attnscope {

class JsonTooDeep : public Error {
 public:
  using Error::Error;
};

inline constexpr int most_json_depth = 32;  // lists and objects within one another; ours have six

// Throws JsonTooDeep, or nlohmann::json::parse_error for what is no JSON. Values nested without end would overflow the
// stack: what holds them is destroyed one within the other.
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
