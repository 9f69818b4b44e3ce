// Titles and explanations of a model's attention parts.
#pragma once

#include <string>

#include "config/config.h"
#include "config/heads.h"

namespace attnscope {

struct PartText {
  const char* name;
  const char* what;  // a short description next to the name
  const char* help;
  const char* reads;  // how to read the large map
  const char* row_axis;
  const char* col_axis;
};

const PartText& text_of(AttentionPart part, const ModelConfig& model);

// A help text about weights, reworded for a capture whose values are not weights.
const char* in_values(const char* help, const ModelConfig& model);

// "Encoder, layer 2, head 3"; a recurrent model has one map, named after its attention function.
std::string title_of(const HeadPlace& place, const ModelConfig& model);

// The note for a model without attention.
std::string no_attention_text(const ModelConfig& model);

}  // namespace attnscope
