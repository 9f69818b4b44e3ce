#pragma once

#include <string_view>

namespace attnscope {

// Lets another process read a serialized SentencePiece model and use it, once for the same bytes; throws TokenizerError
// if that ended otherwise than in order. Whether it is a model is not told.
void try_apart(std::string_view model);

}  // namespace attnscope
