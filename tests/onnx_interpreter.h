// An ONNX model computed node by node, as its operators' documentation says (onnx.ai, operator set 17): enough of them
// for what attnscope writes.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>
#include <vector>

#include "protobuf_reader.h"

namespace attnscope {

class OnnxModel {
 public:
  // Throws std::runtime_error for what is no such model.
  explicit OnnxModel(const std::string& bytes);

  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::map<std::string, torch::Tensor>& initializers() const { return initializers_; }
  // The operator of each node, in order.
  std::vector<std::string> operators() const;

  // values: the inputs by name
  torch::Tensor logits(std::map<std::string, torch::Tensor> values) const;

 private:
  std::vector<Wire> nodes_;
  std::vector<std::string> inputs_, outputs_;
  std::map<std::string, torch::Tensor> initializers_;
};

}  // namespace attnscope
