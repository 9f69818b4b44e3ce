// Reads MessagePack in place: nothing is built but the packet's own fields, whose memory is limited.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace attnscope {

class PacketCursor {
 public:
  // `room`: the bytes that the fields may occupy.
  PacketCursor(std::string_view bytes, std::size_t room) : rest_(bytes), room_(room) {}

  // The next value, which must have this type. Throw WireError.
  bool take_nil();  // false, and nothing is taken, if it has another type
  bool boolean();
  double real();
  template <std::integral T>
  T whole() {
    const auto [negative, bits] = integer();
    const bool fits = negative ? std::in_range<T>(static_cast<std::int64_t>(bits)) : std::in_range<T>(bits);
    if (!fits) refuse_size();
    return static_cast<T>(bits);
  }
  std::string_view text();
  std::string_view binary();
  std::size_t list();  // the number of its elements, which follow
  bool is_real() const;

  // Call before so much memory is allocated for fields.
  void take_room(std::size_t bytes);

  bool at_end() const { return rest_.empty(); }

 private:
  struct Integer {
    bool negative;  // then `bits` is a two's complement
    std::uint64_t bits;
  };
  Integer integer();
  std::uint8_t type() const;
  std::string_view taken(std::size_t count);
  std::uint64_t number(std::size_t bytes);  // most significant byte first
  // The length of a value whose long forms have the types first, first + 1, …, of 1, 2 and 4 bytes.
  std::size_t length(std::uint8_t first, std::size_t forms, std::size_t smallest, const char* expected);
  [[noreturn]] void refuse(const char* expected) const;
  [[noreturn]] static void refuse_size();

  std::string_view rest_;
  std::size_t room_;
};

}  // namespace attnscope
