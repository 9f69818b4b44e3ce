// The tokenizers of other programs' checkpoints, by the family named in tokenizer.family; "sentencepiece" is
// attnscope's own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "data/tokenizer/tokenizer.h"

namespace attnscope {

// One of a tokenizer's files, in the folder of a run or a checkpoint.
struct TokenizerFile {
  std::string_view name;
  bool needed = true;
};

// Throws TokenizerError for an unknown family.
std::span<const TokenizerFile> tokenizer_files(std::string_view family);

// `files` must contain the required ones, and may contain the others. `vocab_size` is the size of the model's embedding
// matrix, which may exceed the tokenizer's. The special tokens are the model's, as in model.padding_id …, except the
// unknown one, which the tokenizer defines. Throws TokenizerError naming the file, and the disagreement between model
// and tokenizer.
Tokenizer make_tokenizer(std::string_view family, TokenizerFiles files, const SpecialTokens& special,
                         std::int64_t vocab_size);

// Export: converts the tokenizer of a run whose tokenizer.family is `own` to the files of `family`. Throws
// TokenizerError if these cannot represent it.
TokenizerFiles files_for_family(std::string_view family, std::string_view own, const Tokenizer& tokenizer);

}  // namespace attnscope
