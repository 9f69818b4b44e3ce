#pragma once

#include <optional>
#include <string_view>

namespace attnscope {

// Returns the index of the first byte that is not valid UTF-8; nothing if all is valid. Rejects overlong forms,
// surrogates and code points above U+10FFFF (RFC 3629).
std::optional<std::size_t> utf8_fault(std::string_view text);

}  // namespace attnscope
