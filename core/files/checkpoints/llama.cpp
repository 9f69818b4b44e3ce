// Llama, as in transformers' modeling_llama.py (arXiv 2302.13971): pre-norm RMSNorm, SwiGLU, RoPE on halves,
// grouped-query attention. Mistral (2310.06825) and Qwen2 (2407.10671) are configurations of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "common/split.h"
#include "files/checkpoints/families.h"

namespace attnscope {
namespace {

// The type of RoPE scaling in this field.
std::string scaling_type(const CheckpointFields& fields, const char* field) {
  const nlohmann::json scaling = fields.object(field);
  for (const char* key : {"rope_type", "type"}) {
    const auto found = scaling.find(key);
    if (found == scaling.end() || found->is_null()) continue;
    if (!found->is_string()) fields.refuse(field, "a type that is a text");
    return found->get<std::string>();
  }
  return "default";
}

// The newest files have base and scaling in rope_parameters; older ones have a field for each.
const char* scaling_field(const CheckpointFields& fields) {
  return scaling_type(fields, "rope_scaling") == "default" ? "rope_parameters" : "rope_scaling";
}

double scaling_number(const CheckpointFields& fields, const char* key, std::optional<double> absent = {}) {
  const nlohmann::json scaling = fields.object(scaling_field(fields));
  const auto found = scaling.find(key);
  if ((found == scaling.end() || found->is_null()) && absent) return *absent;
  if (found == scaling.end() || !found->is_number()) fields.refuse(scaling_field(fields), fmt::format("a number {}", key));
  return found->get<double>();
}

std::string rope_scaling(const CheckpointFields& fields) {
  const std::string type = scaling_type(fields, scaling_field(fields));
  if (type == "default") return "none";
  const auto context = static_cast<double>(fields.whole("max_position_embeddings", 2048));
  const double factor = scaling_number(fields, "factor");
  if (type == "linear") return fmt::format("linear:{}", factor);
  const double original = scaling_number(fields, "original_max_position_embeddings", context);
  if (type == "llama3") {
    return fmt::format("llama3:{},{},{},{}", factor, scaling_number(fields, "low_freq_factor"),
                       scaling_number(fields, "high_freq_factor"), original);
  }
  if (type != "yarn") fields.refuse(scaling_field(fields), "a type default, linear, llama3, yarn");
  const double magnitude = scaling_number(fields, "attention_factor", 0.1 * std::log(std::max(1.0, factor)) + 1);
  return fmt::format("yarn:{},{},{},{},{}", factor, scaling_number(fields, "beta_slow", 1),
                     scaling_number(fields, "beta_fast", 32), original, magnitude);
}

// The reverse, for export.
nlohmann::json scaling_fields(const std::string& text) {
  constexpr const char* llama3[] = {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"};
  constexpr const char* yarn[] = {"factor", "beta_slow", "beta_fast", "original_max_position_embeddings",
                                  "attention_factor"};
  const auto [kind, list] = halves(text, ":");
  nlohmann::json fields = {{"rope_type", kind}};
  std::size_t i = 0;
  for (const std::string_view number : split(list, ","))
    fields[kind == "yarn" ? yarn[i++] : llama3[i++]] = nlohmann::json::parse(number);
  return fields;
}

double rope_theta(const CheckpointFields& fields) {
  const nlohmann::json parameters = fields.object("rope_parameters");
  const auto newest = parameters.find("rope_theta");
  if (newest == parameters.end()) return fields.number("rope_theta", 10000);
  if (!newest->is_number()) fields.refuse("rope_parameters", "a rope_theta that is a number");
  return newest->get<double>();
}

constexpr std::array llama_activations = {OtherName{"swiglu", "silu"}, OtherName{"swiglu", "swish"},
                                          OtherName{"geglu", "gelu_pytorch_tanh"}, OtherName{"geglu", "gelu_new"},
                                          OtherName{"geglu-erf", "gelu"}};

std::string llama_activation(const CheckpointFields& fields) {
  const std::string name = fields.text("hidden_act", "silu");
  const auto* const found = std::ranges::find(llama_activations, name, &OtherName::theirs);
  if (found != llama_activations.end()) return std::string(found->own);
  fields.refuse("hidden_act", "silu, swish, gelu_new, gelu_pytorch_tanh, gelu");
}

// Each query attends to so many keys. Within a context of this length, that is all of them.
std::int64_t sliding_window(const CheckpointFields& fields) {
  const bool is_used = fields.text("model_type") == "mistral" || fields.truth("use_sliding_window", false);
  return is_used ? fields.whole("sliding_window", longest_context) : longest_context;
}

// The maps that have biases. Where only some have, those of the others are 0.
struct Biases {
  bool projections, attention_output, feed_forward;
  bool any() const { return projections || attention_output || feed_forward; }
};
Biases biases(const CheckpointFields& fields) {
  const bool qwen2 = fields.text("model_type") == "qwen2", attention = fields.truth("attention_bias", false);
  return {qwen2 || attention, attention, fields.truth("mlp_bias", false)};
}

Config llama_config(const CheckpointFields& fields) {
  Config config = checkpoint_config(fields, "llama");
  ModelConfig& model = config.model;
  model.architecture = "decoder-only";
  model.d_model = fields.whole("hidden_size");
  model.num_heads = fields.whole("num_attention_heads");
  model.num_kv_heads = fields.whole("num_key_value_heads", model.num_heads);
  model.d_head = fields.whole("head_dim", 0);
  model.num_decoder_layers = fields.whole("num_hidden_layers");
  model.d_ff = fields.whole("intermediate_size");
  model.norm = "pre";
  model.norm_kind = "rms";
  model.norm_epsilon = fields.number("rms_norm_eps", 1e-6);
  model.activation = llama_activation(fields);
  model.biases = biases(fields).any();
  model.positions = "rope";
  model.rope_theta = rope_theta(fields);
  model.rope_scaling = rope_scaling(fields);
  model.scaled_embeddings = false;
  model.tied_embeddings = fields.truth("tie_word_embeddings", false);
  model.max_length = std::min({fields.whole("max_position_embeddings", 2048), sliding_window(fields), longest_context});
  model.padding_id = fields.token("pad_token_id", -1);
  model.start_id = fields.token("bos_token_id");
  model.end_id = fields.token("eos_token_id");
  model.ends_text = true;
  return config;
}

}  // namespace

CheckpointPlan llama_plan(const CheckpointFields& fields) {
  CheckpointPlan plan{checked(llama_config(fields)), {}};
  const ModelConfig& model = plan.config.model;
  const Biases given = biases(fields);
  std::vector<TensorRow>& tensors = plan.tensors;
  add_tensor(tensors, "embedding.weight", {"model.embed_tokens.weight"});
  if (!model.tied_embeddings) add_tensor(tensors, "output_weight", {"lm_head.weight"});
  for (std::int64_t i = 0; i < model.num_decoder_layers; ++i) {
    const std::string layer = fmt::format("decoder.layers.{}.", i), stored = fmt::format("model.layers.{}.", i);
    add_projections(tensors, layer + "self_attn", stored + "self_attn", model, TensorChange::interleaved);
    tensors.back().optional = model.biases && !given.projections;
    const auto add = [&](const char* own, const char* theirs, bool bias) {
      add_linear(tensors, layer + own, {{stored + theirs}}, model.biases);
      tensors.back().optional = model.biases && !bias;
    };
    add("self_attn.out_proj", "self_attn.o_proj", given.attention_output);
    add("linear1", "mlp.gate_proj", given.feed_forward);
    add("linear_v", "mlp.up_proj", given.feed_forward);
    add("linear2", "mlp.down_proj", given.feed_forward);
    add_norm(tensors, layer + "norm1", stored + "input_layernorm", false);
    add_norm(tensors, layer + "norm2", stored + "post_attention_layernorm", false);
  }
  add_norm(tensors, "decoder.norm", "model.norm", false);
  return plan;
}

nlohmann::json llama_fields(const ModelConfig& model) {
  nlohmann::json fields = {{"model_type", "llama"},
                           {"architectures", {"LlamaForCausalLM"}},
                           {"hidden_size", model.d_model},
                           {"num_attention_heads", model.num_heads},
                           {"num_key_value_heads", model.key_heads()},
                           {"num_hidden_layers", model.num_decoder_layers},
                           {"intermediate_size", model.d_ff},
                           {"rms_norm_eps", model.norm_epsilon},
                           {"hidden_act", other_name(llama_activations, model.activation)},
                           {"attention_bias", model.biases},
                           {"mlp_bias", model.biases},
                           {"rope_theta", model.rope_theta},
                                                      {"max_position_embeddings", model.max_length}};
  if (model.d_head > 0) fields["head_dim"] = model.d_head;
  if (model.rope_scaling != "none") fields["rope_scaling"] = scaling_fields(model.rope_scaling);
  return fields;
}

}  // namespace attnscope
