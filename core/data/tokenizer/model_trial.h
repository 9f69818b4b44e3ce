#pragma once

#include <string_view>

namespace attnscope {

// Loads and uses a serialized SentencePiece model in another process, once for the same bytes. Throws TokenizerError if
// that process crashed; whether the bytes are a valid model is not checked.
void try_apart(std::string_view model);

}  // namespace attnscope
