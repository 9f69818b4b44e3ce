// Protobuf messages, read by a reader of the tests' own.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

inline std::uint64_t little(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes.at(at + i))} << 8 * i;
  return value;
}

// A protobuf message: every field's values, numbers as their bytes.
struct Wire {
  std::multimap<int, std::string> fields;

  explicit Wire(std::string_view bytes) {
    std::size_t at = 0;
    const auto varint = [&] {
      std::uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.at(at++));
        value |= std::uint64_t{byte & 127U} << shift;
        if (byte < 128) return value;
      }
    };
    while (at < bytes.size()) {
      const std::uint64_t key = varint();
      std::string value;
      if (key % 8 == 0) {
        const std::uint64_t number = varint();
        value.assign(reinterpret_cast<const char*>(&number), 8);
      } else {
        const std::size_t size = key % 8 == 1 ? 8 : key % 8 == 5 ? 4 : varint();
        if (key % 8 != 1 && key % 8 != 2 && key % 8 != 5) throw std::runtime_error("no such kind");
        value = bytes.substr(at, size);
        if (value.size() != size) throw std::runtime_error("cut short");
        at += size;
      }
      fields.emplace(static_cast<int>(key / 8), value);
    }
  }
  const std::string& one(int field) const { return fields.find(field)->second; }
  // All values of a repeated field, in order.
  std::vector<std::string> all(int field) const {
    std::vector<std::string> values;
    for (auto [at, end] = fields.equal_range(field); at != end; ++at) values.push_back(at->second);
    return values;
  }
  bool has(int field) const { return fields.contains(field); }
  std::int64_t whole(int field) const { return static_cast<std::int64_t>(little(one(field), 0, 8)); }
  double real(int field) const { return std::bit_cast<double>(little(one(field), 0, 8)); }
  float small(int field) const { return std::bit_cast<float>(static_cast<std::uint32_t>(little(one(field), 0, 4))); }
  std::vector<double> reals(int field) const {
    std::vector<double> all;
    for (std::size_t at = 0; at < one(field).size(); at += 8)
      all.push_back(std::bit_cast<double>(little(one(field), at, 8)));
    return all;
  }
};

}  // namespace attnscope
