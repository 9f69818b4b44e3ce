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
  std::int64_t position = -1;        // of its features; of a masked language model in the source, else the last
};

// A masked language model's outputs are its predictions at the masks; without a mask, those at every position.
//
// output: index of the generated token; −1: the last one that is more than punctuation. `yield` may throw.
WrittenStep written_step(SequenceModel& model, const Tokenizer& tokenizer, const std::string& text, int output,
                         const YieldCallback& yield);

}  // namespace attnscope
