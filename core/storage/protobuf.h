// Protobuf's wire format, written by hand: a message is its fields one behind the other, each a key (number and kind)
// and a value. Generated classes would need libprotobuf, which on Debian is in LibTorch's process already, in the
// version that LibTorch was built with, and embedded once more in SentencePiece; and what is needed of it are a few
// messages of numbers and bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace attnscope::protobuf {

// A number's own bytes; packed numbers are such, one behind the other.
template <typename Number>
std::string raw(Number number) {
  static_assert(std::endian::native == std::endian::little, "numbers are little-endian");
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

// The bytes of one field. A repeated field is several of them; a message within one is `delimited`.
std::string varint(int field, std::int64_t value);         // int32, int64, bool, an enumeration
std::string fixed64(int field, double value);              // double
std::string fixed32(int field, float value);               // float
std::string delimited(int field, std::string_view bytes);  // string, bytes, a message, packed numbers

}  // namespace attnscope::protobuf
