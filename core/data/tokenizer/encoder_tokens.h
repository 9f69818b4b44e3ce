// The special tokens of an encoder such as BERT.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/tokenizer.h"

namespace attnscope {

// Names of the special tokens if the files give none.
struct EncoderTokenNames {
  const char *opening, *separator, *mask, *padding, *unknown;
};
inline constexpr EncoderTokenNames bert_token_names = {"[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]"};
inline constexpr EncoderTokenNames roberta_token_names = {"<s>", "</s>", "<mask>", "<pad>", "<unk>"};

struct EncoderTokens {
  // The tokens that are searched in a text before it is split; some take the white space before them.
  struct Added {
    std::string text;
    int id = -1;
    bool takes_space = false;
  };
  std::vector<Added> added;
  int opening = -1, separator = -1, mask = -1, padding = -1, unknown = -1;

  // The parts of a text that are no added tokens go to `plain`, which appends their tokens.
  std::vector<Token> encode(std::string_view text,
                            const std::function<void(std::string_view part, std::vector<Token>& tokens)>& plain) const;

  bool is_special(int id) const;
};

// From tokenizer.json, or else tokenizer_config.json. `id_of` returns −1 for an unknown piece. Throws TokenizerError
// naming the file.
EncoderTokens encoder_tokens(const TokenizerFiles& files, const EncoderTokenNames& names,
                             const std::function<int(const std::string&)>& id_of);

}  // namespace attnscope
