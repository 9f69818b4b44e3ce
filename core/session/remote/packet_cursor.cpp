#include "session/remote/packet_cursor.h"

#include <fmt/format.h>

#include <bit>

#include "session/remote/wire.h"

namespace attnscope {
namespace {

constexpr std::uint8_t nil = 0xC0, no = 0xC2, yes = 0xC3, binary_8 = 0xC4, real_32 = 0xCA, real_64 = 0xCB,
                       unsigned_8 = 0xCC, signed_8 = 0xD0, signed_64 = 0xD3, text_8 = 0xD9, list_16 = 0xDC,
                       first_short_text = 0xA0, first_short_list = 0x90, first_negative = 0xE0;

}  // namespace

void PacketCursor::refuse(const char* expected) const {
  throw WireError(fmt::format("a packet has a value of type {:#04x} where {} should be", type(), expected));
}

void PacketCursor::refuse_size() {
  throw WireError("a packet has a number that is too large for its field");
}

std::uint8_t PacketCursor::type() const {
  if (rest_.empty()) throw WireError("a packet ends too early");
  return static_cast<std::uint8_t>(rest_.front());
}

std::string_view PacketCursor::taken(std::size_t count) {
  if (count > rest_.size()) throw WireError("a packet ends too early");
  const std::string_view bytes = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return bytes;
}

std::uint64_t PacketCursor::number(std::size_t bytes) {
  std::uint64_t number = 0;
  for (const char byte : taken(bytes)) number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

void PacketCursor::take_room(std::size_t bytes) {
  if (bytes > room_) throw WireError("a packet would need more memory than packets may take");
  room_ -= bytes;
}

bool PacketCursor::take_nil() {
  if (type() != nil) return false;
  taken(1);
  return true;
}

bool PacketCursor::boolean() {
  if (type() != no && type() != yes) refuse("true or false");
  return static_cast<std::uint8_t>(taken(1).front()) == yes;
}

bool PacketCursor::is_real() const {
  return type() == real_32 || type() == real_64;
}

double PacketCursor::real() {
  const std::uint8_t form = type();
  if (!is_real()) {
    const auto [negative, bits] = integer();
    return negative ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
  }
  taken(1);
  return form == real_32 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(number(4))))
                         : std::bit_cast<double>(number(8));
}

PacketCursor::Integer PacketCursor::integer() {
  const std::uint8_t form = type();
  const auto widened = [](std::int8_t value) { return static_cast<std::uint64_t>(std::int64_t{value}); };
  if (form < 0x80 || form >= first_negative) {
    taken(1);
    return {form >= first_negative, form < 0x80 ? form : widened(static_cast<std::int8_t>(form))};
  }
  if (form < unsigned_8 || form > signed_64) refuse("a number");
  taken(1);
  const std::size_t bytes = std::size_t{1} << (form - (form < signed_8 ? unsigned_8 : signed_8));
  const std::uint64_t bits = number(bytes);
  if (form < signed_8) return {false, bits};
  const auto shift = 64 - 8 * bytes;  // extends the sign
  const auto value = static_cast<std::int64_t>(bits << shift) >> shift;
  return {value < 0, static_cast<std::uint64_t>(value)};
}

std::size_t PacketCursor::length(std::uint8_t first, std::size_t forms, std::size_t smallest, const char* expected) {
  const std::uint8_t form = type();
  if (form < first || form >= first + forms) refuse(expected);
  taken(1);
  const std::size_t size = number(smallest << (form - first));
  if (size > rest_.size()) throw WireError("a packet ends too early");  // every element takes a byte
  return size;
}

std::string_view PacketCursor::text() {
  const std::uint8_t form = type();
  if (form >= first_short_text && form < nil) {
    taken(1);
    return taken(form - first_short_text);
  }
  return taken(length(text_8, 3, 1, "a text"));
}

std::string_view PacketCursor::binary() {
  return taken(length(binary_8, 3, 1, "bytes"));
}

std::size_t PacketCursor::list() {
  const std::uint8_t form = type();
  if (form < first_short_list || form >= first_short_text) return length(list_16, 2, 2, "a list");
  taken(1);
  return form - first_short_list;
}

}  // namespace attnscope
