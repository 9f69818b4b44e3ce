#include "engine/export/torchscript.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/script.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "engine/export/transformer_program.h"

namespace attnscope {
namespace {

// A module's attribute names have no dots: encoder.layers.0.norm1.weight is self.encoder_layers_0_norm1_weight.
std::string attribute(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

// Generates one line per operator: x12 = torch.matmul(x10, x11).
class Script : public Operators {
 public:
  explicit Script(torch::jit::Module& module) : module_(module) {}

  std::string source() const {
    return fmt::format("def forward(self, {}) -> Tensor:\n{}", fmt::join(inputs_, ", "), body_);
  }

  Value input(const std::string& name) override {
    inputs_.push_back(name + ": Tensor");
    return name;
  }
  Value parameter(const std::string& name) override { return "self." + attribute(name); }
  Value constant(const std::string& name, const torch::Tensor& numbers) override {
    module_.register_buffer(attribute(name), numbers);
    return parameter(name);
  }
  void result(const Value& x) override { body_ += fmt::format("    return {}\n", x); }

  Value add(const Value& a, const Value& b) override { return line("{} + {}", a, b); }
  Value subtract(const Value& a, const Value& b) override { return line("{} - {}", a, b); }
  Value multiply(const Value& a, const Value& b) override { return line("{} * {}", a, b); }
  Value matmul(const Value& a, const Value& b) override { return line("torch.matmul({}, {})", a, b); }
  Value scaled(const Value& x, double factor) override { return line("{} * {:.17g}", x, factor); }
  Value linear(const Value& x, const Value& weight, const Value& bias) override {
    return line("torch.linear({}, {}, {})", x, weight, bias.empty() ? "None" : bias);
  }
  Value layer_norm(const Value& x, std::int64_t width, const Value& gain, const Value& shift, double epsilon) override {
    return line("torch.layer_norm({}, [{}], {}, {}, {:.9g})", x, width, gain, shift, epsilon);
  }
  Value rms_norm(const Value& x, const Value& gain, double epsilon) override {
    return line("{0} * torch.rsqrt({0}.square().mean([-1], True) + {2:.9g}) * {1}", x, gain, epsilon);
  }
  Value softmax(const Value& x) override { return line("torch.softmax({}, -1)", x); }
  Value activated(const Value& x, std::string_view activation) override {
    if (activation == "relu") return line("torch.relu({})", x);
    if (activation == "gelu" || activation == "geglu-erf") return line("torch.gelu({})", x);
    if (activation == "gelu-tanh" || activation == "geglu") return line("torch.gelu({}, approximate=\"tanh\")", x);
    return line("torch.silu({})", x);
  }

  Value permuted(const Value& x, const Sizes& order) override { return line("{}.permute({})", x, order); }
  Value reshaped(const Value& x, const Sizes& sizes) override {
    std::vector<std::string> all;
    for (std::size_t dim = 0; dim < sizes.size(); ++dim)
      all.push_back(sizes[dim] == 0 ? fmt::format("{}.size({})", x, dim) : std::to_string(sizes[dim]));
    return line("{}.reshape([{}])", x, fmt::join(all, ", "));
  }
  Value unsqueezed(const Value& x, std::int64_t dim) override { return line("{}.unsqueeze({})", x, dim); }
  Value squeezed(const Value& x, std::int64_t dim) override { return line("{}.squeeze({})", x, dim); }
  std::vector<Value> split(const Value& x, const Sizes& sizes, std::int64_t dim) override {
    std::vector<Value> values;
    std::int64_t begin = 0;
    for (const std::int64_t size : sizes) {
      values.push_back(line("{}.narrow({}, {}, {})", x, dim, begin, size));
      begin += size;
    }
    return values;
  }
  Value concatenated(const std::vector<Value>& parts, std::int64_t dim) override {
    return line("torch.cat([{}], {})", fmt::join(parts, ", "), dim);
  }
  Value repeated_heads(const Value& x, std::int64_t times) override {
    return line("{}.repeat_interleave({}, 1)", x, times);
  }

  Value rows(const Value& table, const Value& indices) override { return line("{}[{}]", table, indices); }
  Value first_rows(const Value& table, const Value& ids) override { return line("{}[0:{}.size(1)]", table, ids); }
  Value positions(const Value& ids) override { return line("torch.arange({0}.size(1), device={0}.device)", ids); }
  Value shifted(const Value& x, std::int64_t by) override { return line("{} + {}", x, by); }
  Value clamped(const Value& x, std::int64_t least, std::int64_t largest) override {
    return line("{}.clamp({}, {})", x, least, largest);
  }
  Value absolute(const Value& x) override { return line("{}.abs().float()", x); }
  Value mask_above(const Value& x, std::int64_t limit) override { return mask(x, ">", limit); }
  Value mask_equal(const Value& x, std::int64_t number) override { return mask(x, "==", number); }

 private:
  template <typename... Args>
  Value line(fmt::format_string<Args...> format, Args&&... args) {
    Value value = fmt::format("x{}", ++lines_);
    body_ += fmt::format("    {} = {}\n", value, fmt::format(format, std::forward<Args>(args)...));
    return value;
  }
  Value mask(const Value& x, const char* relation, std::int64_t number) {
    return line("torch.zeros({0}.size(), device={0}.device).masked_fill({0} {1} {2}, -float(\"inf\"))", x, relation,
                number);
  }

  torch::jit::Module& module_;
  std::vector<std::string> inputs_;
  std::string body_;
  int lines_ = 0;
};

}  // namespace

std::string torchscript_bytes(const SequenceModel& model) {
  torch::jit::Module module("__torch__.Transformer");
  for (const auto& item : model.named_parameters())
    module.register_parameter(attribute(item.key()), item.value().detach().to(torch::kCPU), false);
  for (const auto& item : model.named_buffers())
    module.register_buffer(attribute(item.key()), item.value().to(torch::kCPU));
  Script script(module);
  write_transformer(model.config(), script);
  module.define(script.source());
  module.eval();
  std::ostringstream stream;
  module.save(stream);
  return std::move(stream).str();
}

}  // namespace attnscope
