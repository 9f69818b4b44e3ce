#include "onnx_interpreter.h"

#include <cstring>
#include <functional>
#include <optional>

namespace attnscope {
namespace {

using torch::Tensor;
using Tensors = std::vector<Tensor>;
using Sizes = std::vector<std::int64_t>;

torch::Dtype dtype_of(std::int64_t type) {
  if (type == 1) return torch::kFloat32;
  if (type == 7) return torch::kInt64;
  throw std::runtime_error("an element type that is not read");
}

Tensor tensor_of(const Wire& proto) {
  Sizes sizes;
  for (const std::string& size : proto.all(1)) sizes.push_back(static_cast<std::int64_t>(little(size, 0, 8)));
  const Tensor tensor = torch::empty(sizes, dtype_of(proto.whole(2)));
  if (proto.one(9).size() != tensor.nbytes()) throw std::runtime_error(proto.one(8) + " has other sizes than bytes");
  std::memcpy(tensor.data_ptr(), proto.one(9).data(), tensor.nbytes());
  return tensor;
}

Sizes list_of(const Tensor& tensor) {
  if (tensor.scalar_type() != torch::kInt64 || tensor.dim() != 1)
    throw std::runtime_error("sizes are int64, of one dimension");
  return {tensor.data_ptr<std::int64_t>(), tensor.data_ptr<std::int64_t>() + tensor.numel()};
}

// A node, and what it is given.
struct Call {
  const Wire& node;
  Tensors in;

  std::optional<Wire> attribute(std::string_view name) const {
    for (const std::string& bytes : node.all(5))
      if (Wire found(bytes); found.one(1) == name) return found;
    return std::nullopt;
  }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    const std::optional<Wire> found = attribute(name);
    return found ? typed(*found, 2).whole(3) : otherwise;
  }
  double real(std::string_view name) const { return typed(attribute(name).value(), 1).small(2); }
  Sizes integers(std::string_view name) const {
    const std::optional<Wire> found = attribute(name);
    Sizes numbers;
    for (const std::string& number : typed(found.value(), 7).all(8))
      numbers.push_back(static_cast<std::int64_t>(little(number, 0, 8)));
    return numbers;
  }
  // AttributeProto says what it holds.
  static const Wire& typed(const Wire& attribute, std::int64_t type) {
    if (attribute.whole(20) != type) throw std::runtime_error(attribute.one(1) + " has another type");
    return attribute;
  }
};

// Both of one type: ONNX converts nothing by itself.
void check_alike(const Call& call) {
  if (call.in.at(0).scalar_type() != call.in.at(1).scalar_type())
    throw std::runtime_error(call.node.one(4) + " of two types");
}

using Operator = std::function<Tensors(const Call&)>;

Operator one(Tensor (*function)(const Tensor&)) {
  return [function](const Call& call) { return Tensors{function(call.in.at(0))}; };
}
Operator two(Tensor (*function)(const Tensor&, const Tensor&)) {
  return [function](const Call& call) {
    check_alike(call);
    return Tensors{function(call.in.at(0), call.in.at(1))};
  };
}

Tensors reshape(const Call& call) {
  Sizes sizes = list_of(call.in.at(1));
  for (std::size_t dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] == 0) sizes[dim] = call.in[0].size(static_cast<std::int64_t>(dim));
  return {call.in[0].reshape(sizes)};
}

Tensors shape(const Call& call) {
  const Sizes sizes = call.in.at(0).sizes().vec();
  const auto end = call.integer("end", static_cast<std::int64_t>(sizes.size()));
  return {torch::tensor(Sizes(sizes.begin() + call.integer("start", 0), sizes.begin() + end))};
}

Tensors slice(const Call& call) {
  const Sizes starts = list_of(call.in.at(1)), ends = list_of(call.in.at(2)), axes = list_of(call.in.at(3));
  return {call.in[0].slice(axes.at(0), starts.at(0), ends.at(0))};
}

Tensors squeeze(const Call& call) {
  return {call.in.size() > 1 ? call.in[0].squeeze(list_of(call.in[1]).at(0)) : call.in.at(0).squeeze()};
}

Tensors split(const Call& call) {
  return call.in.at(0).split_with_sizes(list_of(call.in.at(1)), call.integer("axis", 0));
}

Tensors gather(const Call& call) {
  const Tensor& at = call.in.at(1);
  Sizes sizes = at.sizes().vec();
  for (std::int64_t dim = 1; dim < call.in[0].dim(); ++dim) sizes.push_back(call.in[0].size(dim));
  return {call.in[0].index_select(0, at.flatten()).reshape(sizes)};
}

Tensors expand(const Call& call) {
  return {torch::broadcast_tensors({call.in.at(0), torch::empty(list_of(call.in.at(1)))})[0]};
}

Tensors range(const Call& call) {
  for (const Tensor& each : call.in)
    if (each.dim() != 0) throw std::runtime_error("Range takes scalars");
  return {torch::arange(call.in.at(0).item<std::int64_t>(), call.in.at(1).item<std::int64_t>(),
                        call.in.at(2).item<std::int64_t>(), torch::kInt64)};
}

Tensors layer_norm(const Call& call) {
  const Tensor& x = call.in.at(0);
  const Tensor shifted = x - x.mean(-1, true);
  const Tensor variance = shifted.square().mean(-1, true);
  return {shifted / (variance + call.real("epsilon")).sqrt() * call.in.at(1) + call.in.at(2)};
}

const std::map<std::string, Operator>& operators_known() {
  static const std::map<std::string, Operator> table = {
      {"Abs", one([](const Tensor& x) { return x.abs(); })},
      {"Erf", one([](const Tensor& x) { return x.erf(); })},
      {"Identity", one([](const Tensor& x) { return x; })},
      {"Relu", one([](const Tensor& x) { return x.clamp_min(0); })},
      {"Sigmoid", one([](const Tensor& x) { return 1 / (1 + (-x).exp()); })},
      {"Sqrt", one([](const Tensor& x) { return x.sqrt(); })},
      {"Tanh", one([](const Tensor& x) { return x.tanh(); })},
      {"Add", two([](const Tensor& a, const Tensor& b) { return a + b; })},
      {"Div", two([](const Tensor& a, const Tensor& b) { return a / b; })},
      {"Equal", two([](const Tensor& a, const Tensor& b) { return a.eq(b); })},
      {"Greater", two([](const Tensor& a, const Tensor& b) { return a.gt(b); })},
      {"MatMul", two([](const Tensor& a, const Tensor& b) { return a.matmul(b); })},
      {"Mul", two([](const Tensor& a, const Tensor& b) { return a * b; })},
      {"Sub", two([](const Tensor& a, const Tensor& b) { return a - b; })},
      {"Cast", [](const Call& call) { return Tensors{call.in.at(0).to(dtype_of(call.integer("to", 0)))}; }},
      {"Clip", [](const Call& call) { return Tensors{call.in.at(0).max(call.in.at(1)).min(call.in.at(2))}; }},
      {"Concat", [](const Call& call) { return Tensors{torch::cat(call.in, call.integer("axis", 0))}; }},
      {"Expand", expand},
      {"Gather", gather},
      {"LayerNormalization", layer_norm},
      {"Range", range},
      {"ReduceMean", [](const Call& call) { return Tensors{call.in.at(0).mean(call.integers("axes"), true)}; }},
      {"Reshape", reshape},
      {"Shape", shape},
      {"Slice", slice},
      {"Softmax", [](const Call& call) { return Tensors{call.in.at(0).softmax(call.integer("axis", 0))}; }},
      {"Split", split},
      {"Squeeze", squeeze},
      {"Transpose", [](const Call& call) { return Tensors{call.in.at(0).permute(call.integers("perm"))}; }},
      {"Unsqueeze", [](const Call& call) { return Tensors{call.in.at(0).unsqueeze(list_of(call.in.at(1)).at(0))}; }},
      {"Where", [](const Call& call) { return Tensors{torch::where(call.in.at(0), call.in.at(1), call.in.at(2))}; }},
  };
  return table;
}

}  // namespace

OnnxModel::OnnxModel(const std::string& bytes) {
  const Wire model(bytes);
  if (model.whole(1) != 8 || Wire(model.one(8)).whole(2) != 17) throw std::runtime_error("another version of ONNX");
  const Wire graph(model.one(7));
  for (const std::string& node : graph.all(1)) nodes_.emplace_back(node);
  for (const std::string& tensor : graph.all(5)) {
    const Wire proto(tensor);
    initializers_[proto.one(8)] = tensor_of(proto);
  }
  for (const std::string& input : graph.all(11)) inputs_.push_back(Wire(input).one(1));
  for (const std::string& output : graph.all(12)) outputs_.push_back(Wire(output).one(1));
}

std::vector<std::string> OnnxModel::operators() const {
  std::vector<std::string> all;
  for (const Wire& node : nodes_) all.push_back(node.one(4));
  return all;
}

Tensor OnnxModel::logits(std::map<std::string, Tensor> values) const {
  values.insert(initializers_.begin(), initializers_.end());
  for (const Wire& node : nodes_) {
    Call call{node, {}};
    for (const std::string& input : node.all(1)) call.in.push_back(values.at(input));
    const Tensors out = operators_known().at(node.one(4))(call);
    const std::vector<std::string> names = node.all(2);
    if (names.size() != out.size()) throw std::runtime_error(node.one(4) + " has other outputs");
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!values.emplace(names[i], out[i]).second) throw std::runtime_error(names[i] + " is written twice");
  }
  return values.at(outputs_.at(0));
}

}  // namespace attnscope
