// Lists written as text: "a, b, c".
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace attnscope {

// What stands between the marks; one part where there is none.
std::vector<std::string_view> split(std::string_view text, std::string_view mark);

// What stands before the first mark and behind it; without one all of it, and nothing.
std::pair<std::string_view, std::string_view> halves(std::string_view text, std::string_view mark);

}  // namespace attnscope
