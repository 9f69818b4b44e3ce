// A Transformer's forward pass, told in operators: the one description of it for whatever language it is given away in.
#pragma once

#include "export/operators.h"
#include "plain/config.h"

namespace attnscope {

// Throws CheckpointError, naming the field, for what is no Transformer that writes.
void check_is_transformer(const ModelConfig& config);

// Of an encoder–decoder the inputs are `source`, with its end piece, and `target`, with its start piece; of a language
// model `target`. The result is the logits, B×T×V. Padding in the source is not looked at where there is a piece for
// it.
void write_transformer(const ModelConfig& config, Operators& to);

}  // namespace attnscope
