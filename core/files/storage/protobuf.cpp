#include "files/storage/protobuf.h"

namespace attnscope::protobuf {
namespace {

enum WireType : std::uint64_t { wire_varint = 0, wire_fixed64 = 1, wire_delimited = 2, wire_fixed32 = 5 };

std::string number(std::uint64_t value) {
  std::string written;
  for (; value >= 0x80; value >>= 7U) written += static_cast<char>((value & 0x7FU) | 0x80U);
  return written + static_cast<char>(value);
}

std::string key(int field, WireType type) {
  return number(static_cast<std::uint64_t>(field) << 3U | type);
}

}  // namespace

std::string varint(int field, std::int64_t value) {
  return key(field, wire_varint) + number(static_cast<std::uint64_t>(value));
}

std::string fixed64(int field, double value) {
  return key(field, wire_fixed64) + raw(value);
}

std::string fixed32(int field, float value) {
  return key(field, wire_fixed32) + raw(value);
}

std::string delimited(int field, std::string_view value) {
  std::string written = key(field, wire_delimited) + number(value.size());
  return written.append(value);
}

}  // namespace attnscope::protobuf
