// Splits lists written as text: "a, b, c".
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace attnscope {

// Returns the parts between the separators; one part if there is none.
std::vector<std::string_view> split(std::string_view text, std::string_view mark);

// Returns the text before and after the first separator; without one the whole text and an empty one.
std::pair<std::string_view, std::string_view> halves(std::string_view text, std::string_view mark);

}  // namespace attnscope
