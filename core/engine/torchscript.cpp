#include "engine/torchscript.h"

#include <fmt/format.h>
#include <torch/script.h>

#include <algorithm>
#include <sstream>

#include "checkpoints/checkpoint.h"
#include "model/positions.h"
#include "plain/position_schemes.h"

namespace attnscope {
namespace {

// A module's attributes have no dots: encoder.layers.0.norm1.weight is self.encoder_layers_0_norm1_weight.
std::string attribute(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

// T5's bucket of every distance key − query, from 1 − max_length on.
std::string buckets_of(std::string_view stack) {
  return fmt::format("{}_position_scheme_buckets", stack);
}

std::string activation_text(const ModelConfig& config) {
  const std::string& name = config.activation;
  if (name == "gelu") return "torch.gelu(x)";
  if (name == "gelu-tanh" || name == "geglu") return "torch.gelu(x, approximate=\"tanh\")";
  return name == "relu" ? "torch.relu(x)" : "torch.silu(x)";
}

// Writes the program: methods first that read like the formulas, then the passes, layer by layer.
class Program {
 public:
  explicit Program(const ModelConfig& config)
      : config_(config),
        form_(position_scheme(config.positions).form),
        heads_(config.num_heads),
        keys_(config.key_heads()),
        d_(config.head_width()) {}

  std::string text() {
    formulas();
    if (config_.has_encoder()) stack("encoder", config_.num_encoder_layers);
    stack("decoder", config_.num_decoder_layers);
    forward();
    return text_;
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + '\n';
  }

  // "self.NAME", or None where the model has no such parameter.
  static std::string own(const std::string& name, bool there = true) {
    return there ? "self." + attribute(name) : "None";
  }
  std::string bias_of(const std::string& name) const { return own(name + ".bias", config_.biases); }

  void formulas() {
    const std::int64_t width = heads_ * d_;
    line("def norm(self, x: Tensor, gain: Tensor, shift: Optional[Tensor]) -> Tensor:");
    if (config_.norm_kind == "layer") {
      line("    return torch.layer_norm(x, [{}], gain, shift, {:.9g})", config_.d_model, config_.norm_epsilon);
    } else {
      line("    return x * torch.rsqrt(x.square().mean([-1], True) + {:.9g}) * gain", config_.norm_epsilon);
    }
    line("def heads(self, x: Tensor, count: int) -> Tensor:");
    line("    return x.reshape([x.size(0), x.size(1), count, {}]).transpose(1, 2)", d_);
    line("def scores(self, q: Tensor, k: Tensor) -> Tensor:");
    line("    return torch.matmul(q{}, k.transpose(2, 3))",
         config_.scaled_attention ? fmt::format(" * {:.17g}", 1 / std::sqrt(static_cast<double>(d_))) : "");
    line("def joined(self, x: Tensor) -> Tensor:");
    line("    return x.transpose(1, 2).flatten(2)");
    line("def keys(self, x: Tensor) -> Tensor:");
    line("    return self.heads(x, {}){}", keys_,
         keys_ == heads_ ? "" : fmt::format(".repeat_interleave({}, 1)", heads_ / keys_));
    if (form_ == PositionForm::rotation) rotation();
    self_attention(width);
    if (config_.has_encoder()) cross_attention(width);
    feed_forward();
  }

  // Pairs of neighbouring dimensions turn.
  void rotation() {
    line("def rotated(self, x: Tensor, turns: Tensor) -> Tensor:");
    line("    pair = x.reshape([x.size(0), x.size(1), x.size(2), {}, 2])", d_ / 2);
    line("    turn = turns[0:x.size(2)].reshape([x.size(2), {}, 2])", d_ / 2);
    line("    even, odd = pair.select(4, 0), pair.select(4, 1)");
    line("    cos, sin = turn.select(2, 0), turn.select(2, 1)");
    line("    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], 4).flatten(3)");
  }

  // `told`: what tells the order inside the layers: turns, distances, or nothing.
  void self_attention(std::int64_t width) {
    line(
        "def self_attention(self, x: Tensor, w: Tensor, b: Optional[Tensor], w_o: Tensor, b_o: Optional[Tensor], "
        "bias: Tensor, told: Tensor, relative_k: Tensor, relative_v: Tensor) -> Tensor:");
    line("    qkv = torch.linear(x, w, b)");
    line("    q = self.heads(qkv[:, :, 0:{}], {})", width, heads_);
    line("    k = self.keys(qkv[:, :, {}:{}])", width, width + keys_ * d_);
    line("    v = self.keys(qkv[:, :, {}:{}])", width + keys_ * d_, width + 2 * keys_ * d_);
    if (form_ == PositionForm::rotation) line("    q, k = self.rotated(q, told), self.rotated(k, told)");
    const bool vectors = form_ == PositionForm::vectors;
    line("    scores = self.scores(q, k) + bias");
    if (vectors) {
      line("    by_distance = self.scores(q, relative_k.unsqueeze(0).unsqueeze(0))");
      line("    scores = scores + by_distance.gather(3, told.expand(scores.size()))");
    }
    line("    weights = torch.softmax(scores, -1)");
    line("    mixed = torch.matmul(weights, v)");
    if (vectors) {
      line("    sums = torch.zeros_like(by_distance).scatter_add(3, told.expand(weights.size()), weights)");
      line("    mixed = mixed + torch.matmul(sums, relative_v)");
    }
    line("    return torch.linear(self.joined(mixed), w_o, b_o)");
  }

  void cross_attention(std::int64_t width) {
    line(
        "def cross_attention(self, x: Tensor, memory: Tensor, w: Tensor, b: Optional[Tensor], w_o: Tensor, "
        "b_o: Optional[Tensor], bias: Tensor) -> Tensor:");
    line("    b_q, b_kv = b, b");
    line("    if b is not None:");
    line("        b_q, b_kv = b[0:{0}], b[{0}:]", width);
    line("    q = self.heads(torch.linear(x, w[0:{}], b_q), {})", width, heads_);
    line("    kv = torch.linear(memory, w[{}:], b_kv)", width);
    line("    k, v = self.keys(kv[:, :, 0:{0}]), self.keys(kv[:, :, {0}:])", keys_ * d_);
    line("    weights = torch.softmax(self.scores(q, k) + bias, -1)");
    line("    return torch.linear(self.joined(torch.matmul(weights, v)), w_o, b_o)");
  }

  void feed_forward() {
    line("def active(self, x: Tensor) -> Tensor:");
    line("    return {}", activation_text(config_));
    line(
        "def feed_forward(self, x: Tensor, w1: Tensor, b1: Optional[Tensor], w2: Tensor, b2: Optional[Tensor], "
        "w_v: Optional[Tensor], b_v: Optional[Tensor]) -> Tensor:");
    line("    y = self.active(torch.linear(x, w1, b1))");
    if (config_.is_gated()) {
      line("    if w_v is not None:");
      line("        y = y * torch.linear(x, w_v, b_v)");
    }
    line("    return torch.linear(y, w2, b2)");
  }

  std::string normed(const std::string& x, const std::string& name) const {
    return fmt::format("self.norm({}, {}, {})", x, own(name + ".weight"),
                       own(name + ".bias", config_.norm_kind == "layer"));
  }

  // x and what the sublayer makes of it, the norm before or after; `call` has {} where its input goes.
  void sublayer(const std::string& call, const std::string& norm) {
    if (config_.norm == "pre") {
      line("    x = x + {}", fmt::format(fmt::runtime(call), normed("x", norm)));
    } else {
      line("    x = {}", normed("x + " + fmt::format(fmt::runtime(call), "x"), norm));
    }
  }

  // The first layer's vectors stand in where there are none: the method has a place for them.
  std::string relative(const std::string& layer, const char* which) const {
    return form_ == PositionForm::vectors ? own(layer + "self_attn." + which) : "bias";
  }

  void stack(const std::string& name, std::int64_t num_layers) {
    const bool crosses = name == "decoder" && config_.has_encoder();
    line("def {}(self, x: Tensor, bias: Tensor, told: Tensor{}) -> Tensor:", name,
         crosses ? ", memory: Tensor, memory_bias: Tensor" : "");
    for (std::int64_t i = 0; i < num_layers; ++i) {
      const std::string layer = fmt::format("{}.layers.{}.", name, i);
      const auto projections = [&](const char* attention) {
        const std::string prefix = layer + attention;
        return fmt::format("{}, {}, {}, {}", own(prefix + ".in_proj_weight"),
                           own(prefix + ".in_proj_bias", config_.biases), own(prefix + ".out_proj.weight"),
                           bias_of(prefix + ".out_proj"));
      };
      sublayer(fmt::format("self.self_attention({{}}, {}, bias, told, {}, {})", projections("self_attn"),
                           relative(layer, "relative_k"), relative(layer, "relative_v")),
               layer + "norm1");
      if (crosses) {
        sublayer(fmt::format("self.cross_attention({{}}, memory, {}, memory_bias)", projections("multihead_attn")),
                 layer + "norm2");
      }
      const bool gated = config_.is_gated();
      sublayer(
          fmt::format("self.feed_forward({{}}, {}, {}, {}, {}, {}, {})", own(layer + "linear1.weight"),
                      bias_of(layer + "linear1"), own(layer + "linear2.weight"), bias_of(layer + "linear2"),
                      own(layer + "linear_v.weight", gated), own(layer + "linear_v.bias", gated && config_.biases)),
          layer + (crosses ? "norm3" : "norm2"));
    }
    line("    return {}", config_.final_norm ? normed("x", name + ".norm") : "x");
  }

  void embedded(const char* x, const char* ids, const char* table, const char* positions) {
    const double root = std::sqrt(static_cast<double>(config_.d_model));
    line("    {} = torch.embedding({}, {}) * {:.17g}", x, own(table), ids, config_.scaled_embeddings ? root : 1.0);
    if (form_ != PositionForm::added) return;
    const bool scaled = config_.positions == "learned" && !begins_by_xavier(config_);
    line("    {0} = {0} + {1}[0:{2}.size(1)] * {3:.17g}", x, own(positions), ids, scaled ? root : 1.0);
  }

  // Sets what a stack's self-attention is told: NAME_bias, added to the scores, and NAME_told.
  void told(const std::string& name, const char* ids) {
    line("    at = torch.arange({}.size(1), device={}.device)", ids, ids);
    line("    away = at.unsqueeze(0) - at.unsqueeze(1)");  // key − query
    line("    {}_bias = torch.zeros([1, 1, at.size(0), at.size(0)], device={}.device)", name, ids);
    line("    {}_told = away", name);
    const std::string scheme = name + ".position_scheme.";
    if (config_.positions == "t5") {
      line("    {0}_bias = {0}_bias + torch.embedding({1}, self.{2}[away + {3}]).permute([2, 0, 1])", name,
           own(scheme + "relative_attention_bias"), buckets_of(name), config_.max_length - 1);
    } else if (config_.positions == "alibi") {
      line("    {0}_bias = {0}_bias - {1} * away.abs()", name, own(scheme + "slopes"));
    } else if (form_ == PositionForm::rotation) {
      line("    {}_told = {}", name, own(scheme + "rotations"));
    } else if (form_ == PositionForm::vectors) {
      line("    {0}_told = away.clamp({1}, {2}) + {2}", name, -config_.max_distance, config_.max_distance);
    }
    if (name == "decoder") line("    decoder_bias = decoder_bias.masked_fill(away > 0, -float(\"inf\"))");
  }

  void forward() {
    const bool one = config_.has_one_embedding();
    if (config_.has_encoder()) {
      line("def forward(self, source: Tensor, target: Tensor) -> Tensor:");
      embedded("s", "source", one ? "embedding.weight" : "source_embedding.weight", "source_positions");
      told("encoder", "source");
      line("    padding = torch.zeros([source.size(0), 1, 1, source.size(1)], device=source.device)");
      if (config_.padding_id >= 0) {
        line("    padding = padding.masked_fill((source == {}).unsqueeze(1).unsqueeze(2), -float(\"inf\"))",
             config_.padding_id);
      }
      line("    memory = self.encoder(s, encoder_bias + padding, encoder_told)");
    } else {
      line("def forward(self, target: Tensor) -> Tensor:");
    }
    embedded("t", "target", one ? "embedding.weight" : "target_embedding.weight", "target_positions");
    told("decoder", "target");
    line("    h = self.decoder(t, decoder_bias, decoder_told{})", config_.has_encoder() ? ", memory, padding" : "");
    if (config_.scaled_output) line("    h = h * {:.17g}", 1 / std::sqrt(static_cast<double>(config_.d_model)));
    const std::string table =
        config_.tied_embeddings ? (one ? "embedding.weight" : "target_embedding.weight") : "output_weight";
    line("    return torch.linear(h, {}, {})", own(table), own("output_bias", config_.output_bias));
  }

  const ModelConfig& config_;
  PositionForm form_;
  std::int64_t heads_, keys_, d_;
  std::string text_;
};

}  // namespace

std::string torchscript_source(const ModelConfig& config) {
  if (!config.is_recurrent() && config.has_decoder()) return Program(config).text();
  throw CheckpointError(
      fmt::format("model.architecture is \"{}\": a TorchScript module is made only of encoder-decoder and decoder-only",
                  config.architecture));
}

std::string torchscript_bytes(const SequenceModel& model) {
  const ModelConfig& config = model.config();
  const std::string source = torchscript_source(config);
  torch::jit::Module module("__torch__.Transformer");
  for (const auto& item : model.named_parameters())
    module.register_parameter(attribute(item.key()), item.value().detach().to(torch::kCPU), false);
  for (const auto& item : model.named_buffers())
    module.register_buffer(attribute(item.key()), item.value().to(torch::kCPU));
  if (config.positions == "t5") {
    const torch::Tensor away = torch::arange(1 - config.max_length, config.max_length, torch::kInt64);
    if (config.has_encoder()) module.register_buffer(buckets_of("encoder"), t5_buckets(away, true));
    module.register_buffer(buckets_of("decoder"), t5_buckets(away, false));
  }
  module.define(source);
  module.eval();
  std::ostringstream stream;
  module.save(stream);
  return std::move(stream).str();
}

}  // namespace attnscope
