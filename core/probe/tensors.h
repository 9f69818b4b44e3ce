// Between tensors and the plain numbers of a snapshot.
#pragma once

#include <torch/torch.h>

#include <span>
#include <vector>

#include "plain/matrix.h"
#include "plain/snapshot.h"

namespace attnscope {

// int64 1×L
torch::Tensor ids_tensor(std::span<const int> ids, torch::Device device);

std::vector<int> ids_of(std::span<const Token> tokens);

// R×C on any device → a matrix.
Matrix to_matrix(const torch::Tensor& tensor);

// Any shape → its values, row by row.
std::vector<float> to_values(const torch::Tensor& tensor);

}  // namespace attnscope
