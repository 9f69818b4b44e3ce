// A Transformer as an ONNX model (onnx.ai): its parameters under their names here, and a computation graph.
#pragma once

#include <string>

#include "model/model.h"

namespace attnscope {

// The file's bytes, operator set 17: inputs and result ("logits", float32) as in transformer_program.h, for any number
// of sentences and tokens. Throws CheckpointError for models that are not generating Transformers, and for weights
// beyond the 2 GB limit of the format.
std::string onnx_bytes(const SequenceModel& model);

}  // namespace attnscope
