#pragma once

#include <span>

#include "files/checkpoints/checkpoint.h"
#include "model/model.h"

namespace attnscope {

// Copies another program's tensors into the model, checking each one. Throws CheckpointError naming the tensor that is
// missing, of another shape, not floating-point, or not finite; the model is then partly changed.
void load_checkpoint(const CheckpointTensors& stored, std::span<const TensorRow> rows, SequenceModel& model);

// The inverse: the model's parameters as the rows name them, float32.
Safetensors checkpoint_tensors(std::span<const TensorRow> rows, const SequenceModel& model);

// The values of one parameter of the model, such as its embeddings, without the rest. Throws as load_checkpoint.
torch::Tensor checkpoint_matrix(const CheckpointTensors& stored, std::span<const TensorRow> rows,
                                const std::string& parameter, const SequenceModel& model);

// Says that an output matrix is stored that is not used, because the configuration ties it to the embeddings, and that
// it differs from them; empty: it does not.
std::string unused_output(const CheckpointTensors& stored, std::span<const TensorRow> rows, const ModelConfig& model);

}  // namespace attnscope
