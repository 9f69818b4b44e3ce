#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

std::string to_base64(std::string_view bytes);

// Null if `text` is not base64 with its padding, without line breaks.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace attnscope
