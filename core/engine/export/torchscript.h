// A Transformer as a TorchScript module: its parameters and a program.
#pragma once

#include <string>

#include "model/model.h"

namespace attnscope {

// The file's bytes, for torch.jit.load: forward(source, target), or forward(target) for a language model, as in
// transformer_program.h. Throws CheckpointError for models that are not generating Transformers.
std::string torchscript_bytes(const SequenceModel& model);

}  // namespace attnscope
