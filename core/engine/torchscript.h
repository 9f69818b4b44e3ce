// A Transformer as a TorchScript module: its parameters, and a program that says what they mean.
#pragma once

#include <string>

#include "model/model.h"

namespace attnscope {

// The program of such a model, as TorchScript reads it. Throws CheckpointError for what is no Transformer that writes.
std::string torchscript_source(const ModelConfig& config);

// The file's bytes, for torch.jit.load. An encoder–decoder's forward(source, target) takes int64 B×S, with its end
// piece, and B×T, with its start piece; a language model's forward(text) int64 B×T. Both give the logits, B×T×V. Where
// there is a padding piece, padding in the source is not looked at.
std::string torchscript_bytes(const SequenceModel& model);

}  // namespace attnscope
