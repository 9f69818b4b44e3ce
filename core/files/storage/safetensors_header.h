// A strict parser of a safetensors file's JSON header.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

inline constexpr std::uint64_t max_header_bytes = 100'000'000;
inline constexpr std::string_view metadata_key = "__metadata__";

// One tensor as described by the header; the reader of the data checks its consistency.
struct TensorHeader {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // byte offset from the start of the data
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorHeader> tensors;
};

// Throws SafetensorsError for anything but one object of tensors and metadata: other JSON, duplicate keys, unknown or
// missing fields, numbers that are not non-negative integers.
SafetensorsHeader parse_header(std::string_view text);

}  // namespace attnscope
