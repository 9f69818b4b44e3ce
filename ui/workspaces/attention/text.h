// What the parts of a model's attention are called and how they are explained.
#pragma once

#include <string>

#include "plain/config.h"
#include "plain/heads.h"

namespace attnscope {

struct PartText {
  const char* name;
  const char* what;  // in a few words, beside the name
  const char* help;
  const char* reads;  // how to read the large map
  const char* row_axis;
  const char* col_axis;
};

const PartText& text_of(AttentionPart part, const ModelConfig& model);

// "Encoder, layer 2, head 3"; a recurrent model has one map, and a name for how it is made.
std::string title_of(const HeadPlace& place, const ModelConfig& model);

// Why there is nothing to look at in a model without attention.
std::string no_attention_text(const ModelConfig& model);

}  // namespace attnscope
