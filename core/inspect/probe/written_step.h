// One token that a model generates for a text, with all tokens that it depends on.
#pragma once

#include <string>
#include <vector>

#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "model/model.h"

namespace attnscope {

struct WrittenStep {
  std::vector<std::string> written;  // generated greedily; empty: then the rest is empty too
  int output = 0;                    // index in it of the selected token
  int token = 0;                     // its id
  std::vector<Token> source;         // empty in a language model
  std::vector<Token> read;           // the decoder's input up to the step
};

// output: index of the generated token; −1: the last one that is more than punctuation. `yield` may throw.
WrittenStep written_step(SequenceModel& model, const Tokenizer& tokenizer, const std::string& text, int output,
                         const YieldCallback& yield);

}  // namespace attnscope
