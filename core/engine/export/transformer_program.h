// A Transformer's forward pass in terms of operators: one description for all export formats.
#pragma once

#include "config/config.h"
#include "engine/export/operators.h"

namespace attnscope {

// Throws CheckpointError, naming the field, for models that are not generating Transformers.
void check_is_transformer(const ModelConfig& config);

// The inputs of an encoder–decoder are `source`, with its end token, and `target`, with its start token; of a language
// model `target`. The result is the logits, B×T×V. Padding in the source is masked if the model has a padding token.
void write_transformer(const ModelConfig& config, Operators& to);

}  // namespace attnscope
