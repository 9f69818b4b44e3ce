#pragma once

#include <string>
#include <string_view>

namespace attnscope {

// For a file that is not what it should be: what its first bytes say it is, and what helps, such as "a Git LFS pointer,
// not the file itself: fetch it with git lfs pull". Empty if they say nothing. `path` is quoted in commands.
std::string other_format(std::string_view first_bytes, const std::string& path);

}  // namespace attnscope
