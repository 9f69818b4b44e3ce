#include "probe/tensors.h"

namespace attnscope {

torch::Tensor ids_tensor(std::span<const int> ids, torch::Device device) {
  const std::vector<std::int64_t> wide(ids.begin(), ids.end());
  return torch::tensor(wide, torch::kInt64).unsqueeze(0).to(device);
}

std::vector<int> ids_of(std::span<const Token> tokens) {
  std::vector<int> ids;
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

Matrix to_matrix(const torch::Tensor& tensor) {
  Matrix matrix;
  matrix.rows = static_cast<int>(tensor.size(0));
  matrix.cols = static_cast<int>(tensor.size(1));
  matrix.values = to_values(tensor);
  return matrix;
}

std::vector<float> to_values(const torch::Tensor& tensor) {
  const torch::Tensor host = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  return {host.data_ptr<float>(), host.data_ptr<float>() + host.numel()};
}

}  // namespace attnscope
