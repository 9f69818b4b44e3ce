// Text as it is searched and sorted: small letters without accents.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

// "Requête" → "requete". Latin letters alone; all else stays.
std::string folded(std::string_view text);

}  // namespace attnscope
