// One piece that a model writes of a text, and all that it had read by then.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "plain/callbacks.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

struct WrittenStep {
  std::vector<std::string> written;  // by the model, greedily; none: then the rest is empty too
  int output = 0;                    // which of them is meant
  int token = 0;                     // its id
  std::vector<Token> source;         // none in a language model
  std::vector<Token> read;           // the decoder's input up to the step
};

// output: which of the pieces written; −1: the last that is more than a sign. `breathe` may throw.
WrittenStep written_step(SequenceModel& model, const Tokenizer& tokenizer, const std::string& text, int output,
                         const YieldCallback& yield);

}  // namespace attnscope
