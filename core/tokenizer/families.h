// The tokenizers of other programs' checkpoints, by the family that tokenizer.family names; "sentencepiece" is
// attnscope's own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plain/config.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// One of a tokenizer's files, in a run's folder or a checkpoint's.
struct TokenizerFile {
  std::string_view name;
  bool needed = true;
};

// Throws TokenizerError if there is no such family.
std::span<const TokenizerFile> tokenizer_files(std::string_view family);

// `files` are those that are needed, and of the others what there is. `vocab_size` is that of the model's table, which
// may be longer than the tokenizer's. The special pieces are the model's, as model.padding_id … name them, but for the
// unknown one, which is the tokenizer's to know. Throws TokenizerError naming the file, and what the model and its
// tokenizer disagree in.
Tokenizer make_tokenizer(std::string_view family, TokenizerFiles files, const SpecialTokens& special,
                         std::int64_t vocab_size);

// The other way: the tokenizer of a run whose tokenizer.family is `own`, as the files of `family`. Throws
// TokenizerError where these cannot say the same.
TokenizerFiles files_for_family(std::string_view family, std::string_view own, const Tokenizer& tokenizer);

}  // namespace attnscope
