#include "engine/export/onnx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include "engine/export/transformer_program.h"
#include "files/checkpoints/checkpoint.h"
#include "files/storage/protobuf.h"

namespace attnscope {
namespace {

using protobuf::delimited, protobuf::fixed32, protobuf::varint;

constexpr std::int64_t format_version = 8, operator_set = 17;                   // of ONNX 1.12
constexpr std::size_t largest_file = std::numeric_limits<std::int32_t>::max();  // protobuf's own limit
constexpr std::size_t room_for_graph = 16'000'000;

// Field numbers of onnx.proto's messages.
namespace proto {
namespace model {
constexpr int ir_version = 1, producer_name = 2, graph = 7, opset_import = 8;
constexpr int opset_version = 2;
}  // namespace model
namespace graph {
constexpr int node = 1, name = 2, initializer = 5, input = 11, output = 12;
}
namespace node {
constexpr int input = 1, output = 2, name = 3, op_type = 4, attribute = 5;
}
namespace attribute {
constexpr int name = 1, real = 2, integer = 3, integers = 8, type = 20;
constexpr std::int64_t is_real = 1, is_integer = 2, is_integers = 7;
}  // namespace attribute
namespace tensor {
constexpr int dims = 1, data_type = 2, name = 8, raw_data = 9;
constexpr std::int64_t float32 = 1, int64 = 7;
}  // namespace tensor
namespace value {
constexpr int name = 1, type = 2, tensor_type = 1, element = 1, shape = 2, dim = 1, dim_value = 1, dim_name = 2;
}
}  // namespace proto

std::string integer_attribute(std::string_view name, std::int64_t number) {
  return delimited(proto::attribute::name, name) + varint(proto::attribute::integer, number) +
         varint(proto::attribute::type, proto::attribute::is_integer);
}
std::string real_attribute(std::string_view name, double number) {
  return delimited(proto::attribute::name, name) + fixed32(proto::attribute::real, static_cast<float>(number)) +
         varint(proto::attribute::type, proto::attribute::is_real);
}
std::string integers_attribute(std::string_view name, const Operators::Sizes& numbers) {
  std::string bytes = delimited(proto::attribute::name, name);
  for (const std::int64_t number : numbers) bytes += varint(proto::attribute::integers, number);
  return bytes + varint(proto::attribute::type, proto::attribute::is_integers);
}

// A tensor's sizes: numbers, or names of sizes that the caller chooses.
using Dims = std::vector<std::string>;

std::string value_info(std::string_view name, std::int64_t element, const Dims& dims) {
  std::string shape;
  for (const std::string& dim : dims) shape += delimited(proto::value::dim, delimited(proto::value::dim_name, dim));
  return delimited(proto::value::name, name) +
         delimited(proto::value::type, delimited(proto::value::tensor_type, varint(proto::value::element, element) +
                                                                                delimited(proto::value::shape, shape)));
}

class Graph : public Operators {
 public:
  explicit Graph(const SequenceModel& model) {
    for (const auto& item : model.named_parameters()) tensors_[item.key()] = item.value().detach();
    for (const auto& item : model.named_buffers()) tensors_[item.key()] = item.value();
  }

  // The bytes of the whole file.
  std::string bytes() const {
    std::string graph = nodes_ + delimited(proto::graph::name, "Transformer") + initializers_ + ends_;
    return varint(proto::model::ir_version, format_version) + delimited(proto::model::producer_name, "attnscope") +
           delimited(proto::model::graph, graph) +
           delimited(proto::model::opset_import, varint(proto::model::opset_version, operator_set));
  }

  Value input(const std::string& name) override {
    ends_ += delimited(proto::graph::input, value_info(name, proto::tensor::int64, {"sentences", name + "_tokens"}));
    lengths_[name] = node("Shape", {name}, {integer_attribute("start", 1), integer_attribute("end", 2)});
    return name;
  }
  Value parameter(const std::string& name) override { return initializer(name, tensors_.at(name)); }
  Value constant(const std::string& name, const torch::Tensor& numbers) override { return initializer(name, numbers); }
  void result(const Value& x) override {
    write({"logits"}, "Identity", {x}, {});
    ends_ += delimited(proto::graph::output,
                       value_info("logits", proto::tensor::float32, {"sentences", "target_tokens", "vocabulary"}));
  }

  Value add(const Value& a, const Value& b) override { return node("Add", {a, b}); }
  Value subtract(const Value& a, const Value& b) override { return node("Sub", {a, b}); }
  Value multiply(const Value& a, const Value& b) override { return node("Mul", {a, b}); }
  Value matmul(const Value& a, const Value& b) override { return node("MatMul", {a, b}); }
  Value scaled(const Value& x, double factor) override { return node("Mul", {x, real(factor)}); }
  Value linear(const Value& x, const Value& weight, const Value& bias) override {
    const Value product = matmul(x, permuted(weight, {1, 0}));
    return bias.empty() ? product : add(product, bias);
  }
  Value layer_norm(const Value& x, std::int64_t, const Value& gain, const Value& shift, double epsilon) override {
    return node("LayerNormalization", {x, gain, shift},
                {integer_attribute("axis", -1), real_attribute("epsilon", epsilon)});
  }
  Value rms_norm(const Value& x, const Value& gain, double epsilon) override {
    const Value mean = node("ReduceMean", {multiply(x, x)}, {integers_attribute("axes", {-1})});
    return multiply(node("Div", {x, node("Sqrt", {add(mean, real(epsilon))})}), gain);
  }
  Value softmax(const Value& x) override { return node("Softmax", {x}, {integer_attribute("axis", -1)}); }
  Value activated(const Value& x, std::string_view activation) override {
    if (activation == "relu") return node("Relu", {x});
    if (activation == "gelu" || activation == "geglu-erf")
      return scaled(multiply(x, one_more(node("Erf", {scaled(x, 1 / std::numbers::sqrt2)}))), 0.5);
    if (activation == "gelu-tanh" || activation == "geglu") {
      const Value cube = multiply(multiply(x, x), x);
      const Value inner = scaled(add(x, scaled(cube, 0.044715)), std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
      return scaled(multiply(x, one_more(node("Tanh", {inner}))), 0.5);
    }
    return multiply(x, node("Sigmoid", {x}));
  }

  Value permuted(const Value& x, const Sizes& order) override {
    return node("Transpose", {x}, {integers_attribute("perm", order)});
  }
  Value reshaped(const Value& x, const Sizes& sizes) override { return node("Reshape", {x, integers(sizes)}); }
  Value unsqueezed(const Value& x, std::int64_t dim) override { return node("Unsqueeze", {x, integers({dim})}); }
  Value squeezed(const Value& x, std::int64_t dim) override { return node("Squeeze", {x, integers({dim})}); }
  std::vector<Value> split(const Value& x, const Sizes& sizes, std::int64_t dim) override {
    std::vector<Value> outputs;
    for (std::size_t i = 0; i < sizes.size(); ++i) outputs.push_back(next_name());
    write(outputs, "Split", {x, integers(sizes)}, {integer_attribute("axis", dim)});
    return outputs;
  }
  Value concatenated(const std::vector<Value>& parts, std::int64_t dim) override {
    return node("Concat", parts, {integer_attribute("axis", dim)});
  }
  Value repeated_heads(const Value& x, std::int64_t times) override {
    const Value copies = node("Expand", {unsqueezed(x, 2), integers({1, 1, times, 1, 1})});  // B×H×times×T×d
    const Value sizes = node("Shape", {x});
    const Value all = node("Mul", {sizes, integers({1, times, 1, 1})});
    return node("Reshape", {copies, all});
  }

  Value rows(const Value& table, const Value& indices) override { return node("Gather", {table, indices}); }
  Value first_rows(const Value& table, const Value& ids) override {
    return node("Slice", {table, integers({0}), lengths_.at(ids), integers({0})});
  }
  Value positions(const Value& ids) override {
    return node("Range", {integer(0), node("Squeeze", {lengths_.at(ids)}), integer(1)});
  }
  Value shifted(const Value& x, std::int64_t by) override { return node("Add", {x, integer(by)}); }
  Value clamped(const Value& x, std::int64_t least, std::int64_t largest) override {
    return node("Clip", {x, integer(least), integer(largest)});
  }
  Value absolute(const Value& x) override {
    return node("Cast", {node("Abs", {x})}, {integer_attribute("to", proto::tensor::float32)});
  }
  Value mask_above(const Value& x, std::int64_t limit) override { return mask(node("Greater", {x, integer(limit)})); }
  Value mask_equal(const Value& x, std::int64_t number) override { return mask(node("Equal", {x, integer(number)})); }

 private:
  Value next_name() { return fmt::format("x{}", ++values_); }

  void write(const std::vector<Value>& outputs, std::string_view op, const std::vector<Value>& inputs,
             const std::vector<std::string>& attributes) {
    std::string bytes;
    for (const Value& input : inputs) bytes += delimited(proto::node::input, input);
    for (const Value& output : outputs) bytes += delimited(proto::node::output, output);
    bytes += delimited(proto::node::name, outputs.front()) + delimited(proto::node::op_type, op);
    for (const std::string& each : attributes) bytes += delimited(proto::node::attribute, each);
    nodes_ += delimited(proto::graph::node, bytes);
  }
  Value node(std::string_view op, const std::vector<Value>& inputs, const std::vector<std::string>& attributes = {}) {
    Value output = next_name();
    write({output}, op, inputs, attributes);
    return output;
  }

  // Adds each tensor once, by name.
  Value initializer(const std::string& name, const torch::Tensor& numbers) {
    if (!written_.insert(name).second) return name;
    const bool whole_numbers = numbers.scalar_type() == torch::kInt64;
    const torch::Tensor bare = numbers.to(torch::kCPU, whole_numbers ? torch::kInt64 : torch::kFloat32).contiguous();
    std::string bytes;
    for (const std::int64_t size : bare.sizes()) bytes += varint(proto::tensor::dims, size);
    bytes += varint(proto::tensor::data_type, whole_numbers ? proto::tensor::int64 : proto::tensor::float32) +
             delimited(proto::tensor::name, name) +
             delimited(proto::tensor::raw_data, {static_cast<const char*>(bare.data_ptr()), bare.nbytes()});
    initializers_ += delimited(proto::graph::initializer, bytes);
    return name;
  }
  // Named by their values.
  Value real(double number) {
    return initializer(fmt::format("{:.9g}f", number), torch::tensor(number, torch::kFloat32));
  }
  Value integer(std::int64_t number) {
    return initializer(std::to_string(number), torch::tensor(number, torch::kInt64));
  }
  Value integers(const Sizes& numbers) { return initializer(fmt::format("{}", numbers), torch::tensor(numbers)); }

  Value one_more(const Value& x) { return node("Add", {x, real(1)}); }
  Value mask(const Value& condition) {
    return node("Where", {condition, real(-std::numeric_limits<double>::infinity()), real(0)});
  }

  std::map<std::string, torch::Tensor> tensors_;  // the model's
  std::map<Value, Value> lengths_;                // int64 1: lengths of the inputs' sentences
  std::set<std::string> written_;
  std::string nodes_, initializers_, ends_;  // parts of the graph, serialized
  int values_ = 0;
};

}  // namespace

std::string onnx_bytes(const SequenceModel& model) {
  check_is_transformer(model.config());
  std::size_t weights = 0;
  for (const torch::Tensor& parameter : model.parameters()) weights += parameter.numel() * sizeof(float);
  if (weights + room_for_graph > largest_file)
    throw CheckpointError(
        fmt::format("the weights take {} MB, but an ONNX file can hold at most 2147", weights / 1'000'000));
  Graph graph(model);
  write_transformer(model.config(), graph);
  return graph.bytes();
}

}  // namespace attnscope
