#pragma once

#include <string>
#include <string_view>

namespace attnscope {

// The composed form. Text that is not UTF-8 is returned unchanged, here and below.
std::string nfc(std::string_view text);

// The same, with every kind of space (U+00A0, U+202F, U+3000, …) as U+0020.
std::string composed(std::string_view text);

// Without a byte order mark at the beginning, and a line end (LF, CR LF, CR) at the end.
std::string_view without_line_end(std::string_view line);

}  // namespace attnscope
