#pragma once

#include <optional>
#include <string_view>

namespace attnscope {

// The byte (from 0) at which the text is no longer UTF-8; nothing where all of it is. Refuses overlong forms,
// surrogates and numbers above U+10FFFF (RFC 3629).
std::optional<std::size_t> utf8_fault(std::string_view text);

}  // namespace attnscope
