#include "inspect/probe/tensors.h"

namespace attnscope {
torch::Tensor ids_tensor(std::span<const int> ids, torch::Device device) {
  const std::vector<std::int64_t> wide(ids.begin(), ids.end());
  return torch::tensor(wide, torch::kInt64).unsqueeze(0).to(device);
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

// ---- the inside of a pass

HeadInside to_head_inside(const HeadTensors& tensors, const HeadPlace& place) {
  const auto of_head = [&](const torch::Tensor& heads) { return to_matrix(heads[0][place.head]); };  // B×H×…
  HeadInside head;
  head.place = place;
  head.q = of_head(tensors.q);
  head.k = of_head(tensors.k);
  head.v = of_head(tensors.v);
  if (tensors.bias.defined()) head.bias = of_head(tensors.bias.dim() == 4 ? tensors.bias : tensors.bias.unsqueeze(0));
  if (tensors.relative_v.defined()) head.relative_v = to_matrix(tensors.relative_v);
  head.scaled = tensors.scaled;
  head.window = static_cast<int>(tensors.window);
  head.score_width = static_cast<float>(tensors.score_width);
  head.score_cap = static_cast<float>(tensors.score_cap);
  head.causal = place.part == AttentionPart::decoder;
  head.heads_output = to_matrix(tensors.heads_output[0]);
  head.w_o = to_matrix(tensors.w_o);
  head.b_o = to_matrix(tensors.b_o.unsqueeze(0));
  head.output = to_matrix(tensors.output[0]);
  return head;
}

std::vector<SublayerEffect> to_effects(const std::vector<SublayerTensors>& sublayers) {
  std::vector<SublayerEffect> effects;
  for (const SublayerTensors& tensors : sublayers) {
    SublayerEffect& made = effects.emplace_back();
    made.decoder = tensors.decoder;
    made.layer = tensors.layer;
    made.sublayer = tensors.sublayer;
    made.norm_in = to_values(tensors.norm_in);
    made.norm_added = to_values(tensors.norm_added);
    made.norm_out = to_values(tensors.norm_out);
    made.cosine = to_values(tensors.cosine);
    if (tensors.active.defined()) made.active = to_matrix(tensors.active[0]);
  }
  return effects;
}

}  // namespace attnscope
