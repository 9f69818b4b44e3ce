// The JSON header of a safetensors file, read strictly.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

inline constexpr std::uint64_t max_header_bytes = 100'000'000;
inline constexpr std::string_view metadata_key = "__metadata__";

// One tensor as the header describes it; whether that makes sense is for the reader of the data to say.
struct TensorHeader {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // bytes from the beginning of the data
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorHeader> tensors;
};

// Throws SafetensorsError for anything but one object of tensors and metadata: other JSON, keys given twice, unknown or
// absent fields, numbers that are not whole and not negative.
SafetensorsHeader parse_header(std::string_view text);

}  // namespace attnscope
