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

void for_each_field(std::string_view message,
                    const std::function<void(int field, std::uint64_t number, std::string_view bytes)>& visit) {
  bool whole = true;
  const auto next_number = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !message.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(message.front());
      message.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    whole = false;
    return value;
  };
  while (!message.empty()) {
    const std::uint64_t key = next_number(), type = key & 7U;
    const bool is_number = type == wire_varint;
    const std::uint64_t number = is_number || type == wire_delimited ? next_number() : 0;
    const std::uint64_t size = is_number                ? 0
                               : type == wire_fixed64   ? 8
                               : type == wire_fixed32   ? 4
                               : type == wire_delimited ? number
                                                        : message.size() + 1;
    if (!whole || size > message.size()) return;
    visit(static_cast<int>(key >> 3U), number, message.substr(0, size));
    message.remove_prefix(size);
  }
}

}  // namespace attnscope::protobuf
