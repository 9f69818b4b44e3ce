// Protobuf's wire format, without a library: a message is a sequence of fields, each a key (number and kind) and a
// value. Generated classes would need libprotobuf. On Debian, LibTorch already loads its own version, and SentencePiece
// embeds another. Only a few messages of numbers and bytes are needed.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

namespace attnscope::protobuf {

// The raw bytes of a number; packed numbers are concatenated.
template <typename Number>
std::string raw(Number number) {
  static_assert(std::endian::native == std::endian::little, "numbers are little-endian");
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

// The bytes of one field. A repeated field is several of them; a nested message is `delimited`.
std::string varint(int field, std::int64_t value);         // int32, int64, bool, an enumeration
std::string fixed64(int field, double value);              // double
std::string fixed32(int field, float value);               // float
std::string delimited(int field, std::string_view bytes);  // string, bytes, a message, packed numbers

// Calls visit(field, number, bytes) for each field of a message: the number of a varint, or the bytes of anything else.
// Stops where the message is damaged.
void for_each_field(std::string_view message,
                    const std::function<void(int field, std::uint64_t number, std::string_view bytes)>& visit);

}  // namespace attnscope::protobuf
