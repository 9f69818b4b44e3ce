// What the built-in corpora say of themselves; apart, because corpus and window each have a class Text.
#pragma once

#include <string_view>
#include <vector>

namespace attnscope {

std::vector<std::string_view> corpus_descriptions();

}  // namespace attnscope
