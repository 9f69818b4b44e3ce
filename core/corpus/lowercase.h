// Small letters.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

// Every capital of a valid UTF-8 text as its small letter, one for one, as the C library's C.UTF-8 has them: "ÄÖÜ É Σ"
// → "äöü é σ". Throws CorpusError where there is no such locale.
std::string lowercased(std::string_view text);

}  // namespace attnscope
