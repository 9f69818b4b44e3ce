// Case and accent folding for search and sorting.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

// "Requête" → "requete". Folds Latin letters only; everything else is unchanged.
std::string folded(std::string_view text);

}  // namespace attnscope
