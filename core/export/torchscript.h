// A Transformer as a TorchScript module: its parameters, and a program that says what they mean.
#pragma once

#include <string>

#include "model/model.h"

namespace attnscope {

// The file's bytes, for torch.jit.load: forward(source, target), of a language model forward(target), as
// transformer_program.h has them. Throws CheckpointError for what is no Transformer that writes.
std::string torchscript_bytes(const SequenceModel& model);

}  // namespace attnscope
