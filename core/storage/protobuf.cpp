#include "storage/protobuf.h"

namespace attnscope::protobuf {
namespace {

enum Kind : std::uint64_t { varint = 0, eight_bytes = 1, bytes = 2, four_bytes = 5 };

std::string number(std::uint64_t value) {
  std::string written;
  for (; value >= 0x80; value >>= 7U) written += static_cast<char>((value & 0x7FU) | 0x80U);
  return written + static_cast<char>(value);
}

std::string key(int field, Kind kind) {
  return number(static_cast<std::uint64_t>(field) << 3U | kind);
}

}  // namespace

std::string whole(int field, std::int64_t value) {
  return key(field, varint) + number(static_cast<std::uint64_t>(value));
}

std::string real(int field, double value) {
  return key(field, eight_bytes) + raw(value);
}

std::string small(int field, float value) {
  return key(field, four_bytes) + raw(value);
}

std::string counted(int field, std::string_view value) {
  std::string written = key(field, bytes) + number(value.size());
  return written.append(value);
}

}  // namespace attnscope::protobuf
