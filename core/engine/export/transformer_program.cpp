#include "engine/export/transformer_program.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "config/position_schemes.h"
#include "files/checkpoints/checkpoint.h"
#include "model/feed_forward.h"
#include "model/model.h"
#include "model/norm.h"
#include "model/positions.h"

namespace attnscope {
namespace {

using Value = Operators::Value;

// The positional inputs of a stack's self-attention; those that the scheme does not use are empty.
struct PositionInputs {
  Value bias;       // T×T or H×T×T, added to the scores; includes the decoder's mask
  Value distances;  // T×T, rows of relative_k and relative_v
  Value cos, sin;   // T×d/2×1, which rotate pairs of dimensions
};

class Program {
 public:
  Program(const ModelConfig& config, Operators& to)
      : config_(config),
        to_(to),
        form_(position_scheme(config.positions).form),
        heads_(config.num_heads),
        keys_(config.key_heads()),
        d_(config.head_width()) {}

  void write() {
    Value memory, padding;
    if (config_.has_encoder()) {
      const Value source = to_.input("source");
      if (config_.padding_id >= 0)
        padding = to_.unsqueezed(to_.unsqueezed(to_.mask_equal(source, config_.padding_id), 1), 2);  // B×1×1×S
      PositionInputs positions = order("encoder", source);
      positions.bias = sum(positions.bias, padding);
      memory = encoder(embedded(source, source_embedding(), "source_positions"), positions);
    }
    const Value target = to_.input("target");
    Value h =
        decoder(embedded(target, target_embedding(), "target_positions"), order("decoder", target), memory, padding);
    if (config_.scaled_output) h = to_.scaled(h, 1 / root_of_width());
    const Value output = config_.tied_embeddings ? to_.parameter(target_embedding()) : to_.parameter("output_weight");
    to_.result(to_.linear(h, output, config_.output_bias ? to_.parameter("output_bias") : Value()));
  }

 private:
  double root_of_width() const { return std::sqrt(static_cast<double>(config_.d_model)); }
  std::string source_embedding() const {
    return config_.has_one_embedding() ? "embedding.weight" : "source_embedding.weight";
  }
  std::string target_embedding() const {
    return config_.has_one_embedding() ? "embedding.weight" : "target_embedding.weight";
  }

  Value sum(const Value& a, const Value& b) {
    if (a.empty() || b.empty()) return a.empty() ? b : a;
    return to_.add(a, b);
  }

  Value embedded(const Value& ids, const std::string& table, const std::string& positions) {
    Value x = to_.rows(to_.parameter(table), ids);
    if (config_.scaled_embeddings) x = to_.scaled(x, root_of_width());
    if (form_ != PositionForm::added) return x;
    const Value vectors = to_.first_rows(to_.parameter(positions), ids);
    const bool scaled = config_.positions == "learned" && !begins_by_xavier(config_);
    return to_.add(x, scaled ? to_.scaled(vectors, root_of_width()) : vectors);
  }

  PositionInputs order(const std::string& stack, const Value& ids) {
    PositionInputs positions;
    const std::string scheme = stack + ".position_scheme.";
    const bool causal = stack == "decoder";
    const Value at = to_.positions(ids);
    const Value away = to_.subtract(to_.unsqueezed(at, 0), to_.unsqueezed(at, 1));  // key − query
    if (config_.positions == "t5") {
      const std::int64_t farthest = config_.max_length - 1;
      const Value buckets =
          to_.constant(scheme + "buckets", t5_buckets(torch::arange(-farthest, farthest + 1, torch::kInt64), !causal));
      const Value bucket = to_.rows(buckets, to_.shifted(away, farthest));
      positions.bias = to_.permuted(to_.rows(to_.parameter(scheme + "relative_attention_bias"), bucket), {2, 0, 1});
    } else if (config_.positions == "alibi") {
      positions.bias = to_.scaled(to_.multiply(to_.parameter(scheme + "slopes"), to_.absolute(away)), -1);
    } else if (form_ == PositionForm::rotation) {
      const Value turns = to_.reshaped(to_.first_rows(to_.parameter(scheme + "rotations"), ids), {0, d_ / 2, 2});
      const std::vector<Value> cos_sin = to_.split(turns, {1, 1}, 2);
      positions.cos = cos_sin[0];
      positions.sin = cos_sin[1];
    } else if (form_ == PositionForm::vectors) {
      const std::int64_t farthest = config_.max_distance;
      positions.distances = to_.shifted(to_.clamped(away, -farthest, farthest), farthest);
    }
    if (form_ == PositionForm::bias && positions.bias.empty())
      throw CheckpointError(fmt::format("model.positions is \"{}\", which cannot be exported yet", config_.positions));
    if (causal) positions.bias = sum(positions.bias, to_.mask_above(away, 0));
    return positions;
  }

  // ---- splitting and rotating heads

  Value heads(const Value& x, std::int64_t count) {
    return to_.permuted(to_.reshaped(x, {0, 0, count, d_}), {0, 2, 1, 3});
  }
  Value keys(const Value& x) {
    const Value few = heads(x, keys_);
    return keys_ == heads_ ? few : to_.repeated_heads(few, heads_ / keys_);
  }
  Value queries(const Value& x) {
    const Value q = heads(x, heads_);
    return config_.scaled_attention ? to_.scaled(q, 1 / std::sqrt(static_cast<double>(d_))) : q;
  }
  Value one_vector(const Value& mixed) { return to_.reshaped(to_.permuted(mixed, {0, 2, 1, 3}), {0, 0, heads_ * d_}); }
  Value products(const Value& q, const Value& k) { return to_.matmul(q, to_.permuted(k, {0, 1, 3, 2})); }

  // B×H×T×d: rotates pairs of neighboring dimensions.
  Value rotated(const Value& x, const PositionInputs& positions) {
    const std::vector<Value> pair = to_.split(to_.reshaped(x, {0, 0, 0, d_ / 2, 2}), {1, 1}, 4);
    const Value even = to_.subtract(to_.multiply(pair[0], positions.cos), to_.multiply(pair[1], positions.sin));
    const Value odd = to_.add(to_.multiply(pair[0], positions.sin), to_.multiply(pair[1], positions.cos));
    return to_.reshaped(to_.concatenated({even, odd}, 4), {0, 0, 0, d_});
  }

  // Multiplies each row of B×H×T×n with its query's n×m matrix, from T×n×m.
  Value by_query(const Value& rows, const Value& matrices) {
    return to_.squeezed(to_.matmul(to_.unsqueezed(rows, 3), matrices), 3);
  }

  // ---- sublayers

  Value bias_of(const std::string& map) { return config_.biases ? to_.parameter(map + ".bias") : Value(); }
  Value linear(const Value& x, const std::string& map) {
    return to_.linear(x, to_.parameter(map + ".weight"), bias_of(map));
  }

  Value norm(const Value& x, const std::string& name) {
    if (!config_.has_norms()) return x;
    const Value gain = to_.parameter(name + ".weight");
    switch (norm_kind(config_)) {
      case NormKind::none:
        break;
      case NormKind::rms:
        return to_.rms_norm(x, gain, config_.norm_epsilon);
      case NormKind::layer:
        return to_.layer_norm(x, config_.d_model, gain, to_.parameter(name + ".bias"), config_.norm_epsilon);
    }
    return {};
  }

  Value self_attention(const Value& x, const std::string& name, const PositionInputs& positions) {
    const Value qkv = to_.linear(x, to_.parameter(name + ".in_proj_weight"),
                                 config_.biases ? to_.parameter(name + ".in_proj_bias") : Value());
    const std::vector<Value> part = to_.split(qkv, {heads_ * d_, keys_ * d_, keys_ * d_}, 2);
    Value q = queries(part[0]), k = keys(part[1]);
    if (!positions.cos.empty()) {
      q = rotated(q, positions);
      k = rotated(k, positions);
    }
    Value scores = products(q, k);
    if (!positions.distances.empty()) {
      const Value relative = to_.rows(to_.parameter(name + ".relative_k"), positions.distances);  // T×T×d
      scores = to_.add(scores, by_query(q, to_.permuted(relative, {0, 2, 1})));
    }
    const Value weights = to_.softmax(sum(scores, positions.bias));
    Value mixed = to_.matmul(weights, keys(part[2]));
    if (!positions.distances.empty())
      mixed = to_.add(mixed, by_query(weights, to_.rows(to_.parameter(name + ".relative_v"), positions.distances)));
    return linear(one_vector(mixed), name + ".out_proj");
  }

  Value cross_attention(const Value& x, const std::string& name, const Value& memory, const Value& padding) {
    const Operators::Sizes sizes = {heads_ * d_, 2 * keys_ * d_};
    const std::vector<Value> w = to_.split(to_.parameter(name + ".in_proj_weight"), sizes, 0);
    const std::vector<Value> b =
        config_.biases ? to_.split(to_.parameter(name + ".in_proj_bias"), sizes, 0) : std::vector<Value>(2);
    const Value q = queries(to_.linear(x, w[0], b[0]));
    const std::vector<Value> kv = to_.split(to_.linear(memory, w[1], b[1]), {keys_ * d_, keys_ * d_}, 2);
    const Value weights = to_.softmax(sum(products(q, keys(kv[0])), padding));
    return linear(one_vector(to_.matmul(weights, keys(kv[1]))), name + ".out_proj");
  }

  Value feed_forward(const Value& x, const std::string& layer) {
    const FeedForwardForm& form = feed_forward_form(config_.activation);
    Value inner = to_.activated(linear(x, layer + "linear1"), form.function);
    if (form.gated) inner = to_.multiply(inner, linear(x, layer + "linear_v"));
    return linear(inner, layer + "linear2");
  }

  // x plus the sublayer's output, with pre-norm or post-norm.
  template <typename Sublayer>
  Value residual(const Value& x, const std::string& norm_name, const Sublayer& sublayer) {
    if (config_.norm == "pre") return to_.add(x, sublayer(norm(x, norm_name)));
    return norm(to_.add(x, sublayer(x)), norm_name);
  }

  // ---- stacks

  Value encoder(Value x, const PositionInputs& positions) {
    for (std::int64_t i = 0; i < config_.num_encoder_layers; ++i) {
      const std::string layer = fmt::format("encoder.layers.{}.", i);
      x = residual(x, layer + "norm1",
                   [&](const Value& y) { return self_attention(y, layer + "self_attn", positions); });
      if (config_.has_feed_forward())
        x = residual(x, layer + "norm2", [&](const Value& y) { return feed_forward(y, layer); });
    }
    return config_.final_norm ? norm(x, "encoder.norm") : x;
  }

  Value decoder(Value x, const PositionInputs& positions, const Value& memory, const Value& padding) {
    for (std::int64_t i = 0; i < config_.num_decoder_layers; ++i) {
      const std::string layer = fmt::format("decoder.layers.{}.", i);
      x = residual(x, layer + "norm1",
                   [&](const Value& y) { return self_attention(y, layer + "self_attn", positions); });
      if (!memory.empty()) {
        x = residual(x, layer + "norm2",
                     [&](const Value& y) { return cross_attention(y, layer + "multihead_attn", memory, padding); });
      }
      if (!config_.has_feed_forward()) continue;
      x = residual(x, layer + (memory.empty() ? "norm2" : "norm3"),
                   [&](const Value& y) { return feed_forward(y, layer); });
    }
    return config_.final_norm ? norm(x, "decoder.norm") : x;
  }

  const ModelConfig& config_;
  Operators& to_;
  PositionForm form_;
  std::int64_t heads_, keys_, d_;
};

}  // namespace

void check_is_transformer(const ModelConfig& config) {
  if (config.is_recurrent() || !config.has_decoder()) {
    throw CheckpointError(
        fmt::format("model.architecture is \"{}\": only encoder-decoder and decoder-only can be exported as a program",
                    config.architecture));
  }
  // Parts of the model that the program does not compute.
  constexpr std::array unsupported = {
      "model.num_decoder_heads", "model.decoder_d_ff",   "model.output_norms",  "model.parallel_sublayers",
      "model.embedding_norm",    "model.query_key_norm", "model.window",        "model.score_width",
      "model.score_cap",         "model.logit_cap"};
  Config given, plain;
  given.model = config;
  for (const char* key : unsupported) {
    const ConfigField& field = config_field(key);
    if (const std::string value = field_text(given, field); value != field_text(plain, field))
      throw CheckpointError(fmt::format("{} is {}, which cannot be exported as a program: only {}", key, value,
                                        field_text(plain, field)));
  }
  if (config.rope_scaling.starts_with("dynamic"))
    throw CheckpointError("model.rope_scaling is dynamic, which cannot be exported as a program");
}

void write_transformer(const ModelConfig& config, Operators& to) {
  check_is_transformer(config);
  Program(config, to).write();
}

}  // namespace attnscope
