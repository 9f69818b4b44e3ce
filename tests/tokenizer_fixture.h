// A tokenizer of single characters, trained on a few words.
#pragma once

#include <string>
#include <vector>

#include "data/tokenizer/tokenizer.h"

namespace attnscope {

inline const Tokenizer& tokenizer() {
  static const Tokenizer trained = [] {
    TokenizerConfig config;
    config.type = "char";
    const std::vector<std::string> lines = {"the cat sat on the mat", "a dog ran", "the end"};
    return Tokenizer(Tokenizer::train(lines, config));
  }();
  return trained;
}

}  // namespace attnscope
