// Between tensors and the plain numbers of a snapshot.
#pragma once

#include <span>
#include <vector>

#include "common/matrix.h"
#include "config/config.h"
#include "messages/head_inside.h"
#include "messages/sublayers.h"
#include "model/inspection.h"
#include "model/kernels/libtorch.h"

namespace attnscope {

// int64 1×L
torch::Tensor ids_tensor(std::span<const int> ids, torch::Device device);

// R×C on any device → a matrix.
Matrix to_matrix(const torch::Tensor& tensor);

// Any shape → its values, row by row.
std::vector<float> to_values(const torch::Tensor& tensor);

// ---- contents of an Inspection of a pass over one sentence (B = 1)

// The head at `place`, whose sublayer's tensors are `tensors`.
HeadInside to_head_inside(const HeadTensors& tensors, const HeadPlace& place);

std::vector<SublayerEffect> to_effects(const std::vector<SublayerTensors>& sublayers);

}  // namespace attnscope
