// A Transformer as an ONNX model (onnx.ai): its parameters, by their names here, and a graph that says what they mean.
#pragma once

#include <string>

#include "model/model.h"

namespace attnscope {

// The file's bytes, of operator set 17: inputs and result ("logits", float32) as transformer_program.h has them, of any
// number of sentences and pieces. Throws CheckpointError for what is no Transformer that writes, and for weights beyond
// the 2 GB that such a file holds.
std::string onnx_bytes(const SequenceModel& model);

}  // namespace attnscope
