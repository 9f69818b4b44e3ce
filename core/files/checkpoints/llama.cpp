// Llama, as in transformers' modeling_llama.py (arXiv 2302.13971): pre-norm RMSNorm, SwiGLU, RoPE on halves,
// grouped-query attention. Mistral (2310.06825), Qwen 2 and 3 (2407.10671, 2505.09388) and Gemma 1 to 3 (2403.08295,
// 2408.00118, 2503.19786) are configurations of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "common/split.h"
#include "files/checkpoints/families.h"

namespace attnscope {
namespace {

constexpr std::array llama_activations = {OtherName{"swiglu", "silu"}, OtherName{"swiglu", "swish"},
                                          OtherName{"geglu", "gelu_pytorch_tanh"}, OtherName{"geglu", "gelu_new"},
                                          OtherName{"geglu-erf", "gelu"}};

// RoPE's fields for a kind of layers: in the newest files they are in rope_parameters, in Gemma 3 once for
// each kind; in older ones rope_scaling and a base.
class RopeFields {
 public:
  RopeFields(const CheckpointFields& fields, const char* kind) : fields_(fields) {
    json_ = fields.object("rope_parameters");
    if (const auto own = json_.find(kind); own != json_.end() && own->is_object()) json_ = *own;
    if (type() == "default" && !fields.object("rope_scaling").empty()) {
      field_ = "rope_scaling";
      json_.erase("rope_type");
      json_.update(fields.object(field_));
    }
  }

  std::string type() const {
    for (const char* key : {"rope_type", "type"}) {
      const auto found = json_.find(key);
      if (found == json_.end() || found->is_null()) continue;
      if (!found->is_string()) fields_.refuse(field_, "a type that is a text");
      return found->get<std::string>();
    }
    return "default";
  }

  bool has(const char* key) const { return json_.contains(key) && !json_.at(key).is_null(); }

  double number(const char* key, std::optional<double> absent = {}) const {
    if (!has(key) && absent) return *absent;
    if (!has(key) || !json_.at(key).is_number()) fields_.refuse(field_, fmt::format("a number {}", key));
    return json_.at(key).get<double>();
  }

  std::string scaling() const {
    const std::string kind = type();
    if (kind == "default") return "none";
    const auto context = static_cast<double>(fields_.whole("max_position_embeddings", 2048));
    const double original = number("original_max_position_embeddings", context);
    const bool derived = kind == "yarn" && !has("factor") && has("original_max_position_embeddings");
    const double factor = derived ? context / original : number("factor");
    if (kind == "linear") return fmt::format("linear:{}", factor);
    if (kind == "dynamic") return fmt::format("dynamic:{},{}", factor, original);
    if (kind == "llama3") {
      return fmt::format("llama3:{},{},{},{}", factor, number("low_freq_factor"), number("high_freq_factor"), original);
    }
    if (kind != "yarn") fields_.refuse(field_, "a type default, linear, dynamic, llama3, yarn");
    if (has("truncate") && json_.at("truncate") != true) fields_.refuse(field_, "truncate true");
    const auto magnitude_of = [&](double scale) { return factor > 1 ? 0.1 * scale * std::log(factor) + 1 : 1; };
    const bool both = number("mscale", 0) != 0 && number("mscale_all_dim", 0) != 0;
    const double usual =
        both ? magnitude_of(number("mscale")) / magnitude_of(number("mscale_all_dim")) : magnitude_of(1);
    return fmt::format("yarn:{},{},{},{},{}", factor, number("beta_slow", 1), number("beta_fast", 32), original,
                       number("attention_factor", usual));
  }

 private:
  const CheckpointFields& fields_;
  const char* field_ = "rope_parameters";
  nlohmann::json json_;
};

// The reverse, for export.
nlohmann::json scaling_fields(const std::string& text) {
  constexpr const char* llama3[] = {"factor", "low_freq_factor", "high_freq_factor",
                                    "original_max_position_embeddings"};
  constexpr const char* dynamic[] = {"factor", "original_max_position_embeddings"};
  constexpr const char* yarn[] = {"factor", "beta_slow", "beta_fast", "original_max_position_embeddings",
                                  "attention_factor"};
  const auto [kind, list] = halves(text, ":");
  nlohmann::json fields = {{"rope_type", kind}};
  std::size_t i = 0;
  for (const std::string_view number : split(list, ","))
    fields[(kind == "yarn" ? yarn : kind == "dynamic" ? dynamic : llama3)[i++]] = nlohmann::json::parse(number);
  return fields;
}

// The relative to which the checkpoint belongs.
struct Relative {
  std::string_view type;
  bool gemma = type.starts_with("gemma");
  bool output_norms = type == "gemma2" || type == "gemma3_text";
  bool query_key_norm = type == "qwen3" || type == "gemma3_text";
};

// The layers that attend to a window only.
std::vector<bool> local_layers(const CheckpointFields& fields, std::string_view type, std::int64_t layers) {
  std::vector<bool> local(static_cast<std::size_t>(layers));
  const bool uses = type == "mistral" || type == "gemma2" || type == "gemma3_text" ||
                    fields.truth("use_sliding_window", false);
  if (!uses || fields.whole("sliding_window", 0) == 0) return local;
  const std::vector<std::string> types = fields.texts("layer_types");
  if (!types.empty() && types.size() != local.size())
    fields.refuse("layer_types", fmt::format("one for each of {} layers", layers));
  const std::int64_t first = fields.whole("max_window_layers", 28), period = fields.whole("sliding_window_pattern", 6);
  if (period == 0) fields.refuse("sliding_window_pattern", "1 or more");
  for (std::size_t i = 0; i < local.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    local[i] = !types.empty()         ? types[i] == "sliding_attention"
               : type == "gemma2"     ? i % 2 == 0
               : type == "gemma3_text" ? (layer + 1) % period != 0
                                       : type == "mistral" || layer >= first;
  }
  return local;
}

// The maps that have biases. Where only some have, those of the others are 0.
struct Biases {
  bool projections, attention_output, feed_forward;
  bool any() const { return projections || attention_output || feed_forward; }
};
Biases biases(const CheckpointFields& fields) {
  const bool qwen2 = fields.text("model_type") == "qwen2" && !fields.truth("attention_bias", false);
  const bool attention = fields.truth("attention_bias", false);
  return {qwen2 || attention, attention, fields.truth("mlp_bias", false)};
}

Config llama_config(const CheckpointFields& fields, const Relative& relative) {
  Config config = checkpoint_config(fields, "llama");
  ModelConfig& model = config.model;
  model.architecture = "decoder-only";
  model.d_model = fields.whole("hidden_size");
  model.num_heads = fields.whole("num_attention_heads");
  model.num_kv_heads = fields.whole("num_key_value_heads", model.num_heads);
  model.d_head = fields.whole("head_dim", relative.gemma ? 256 : 0);
  model.num_decoder_layers = fields.whole("num_hidden_layers");
  model.d_ff = fields.whole("intermediate_size");
  model.norm = "pre";
  model.norm_kind = "rms";
  model.norm_epsilon = fields.number("rms_norm_eps", 1e-6);
  model.output_norms = relative.output_norms;
  model.query_key_norm = relative.query_key_norm;
  // Gemma's older field hidden_act is not read.
  const char* const activation = relative.gemma ? "hidden_activation" : "hidden_act";
  model.activation = own_name(fields, activation, llama_activations,
                              fields.text(activation, relative.gemma ? "gelu_pytorch_tanh" : "silu"));
  model.biases = biases(fields).any();
  model.positions = "rope";
  read_rope(fields, model);
  set_windows(model, fields.whole("sliding_window", 0), local_layers(fields, relative.type, model.num_decoder_layers));
  if (relative.type == "gemma3_text" && model.window > 0)
    model.local_rope_theta = RopeFields(fields, "sliding_attention").has("rope_theta") &&
                                     fields.object("rope_parameters").contains("sliding_attention")
                                 ? RopeFields(fields, "sliding_attention").number("rope_theta")
                                 : fields.number("rope_local_base_freq", 10000);
  if (relative.output_norms) model.score_width = fields.number("query_pre_attn_scalar", 256);
  if (relative.output_norms) model.score_cap = fields.number("attn_logit_softcapping", 0);
  if (relative.output_norms) model.logit_cap = fields.number("final_logit_softcapping", 0);
  model.scaled_embeddings = relative.gemma;
  model.tied_embeddings = fields.truth("tie_word_embeddings", relative.gemma);
  model.padding_id = fields.token("pad_token_id", -1);
  model.start_id = fields.token("bos_token_id");
  model.end_id = fields.token("eos_token_id");
  model.ends_text = true;
  return config;
}

}  // namespace

void read_rope(const CheckpointFields& fields, ModelConfig& model, const char* base, const char* share,
               double default_share) {
  const RopeFields rope(fields, "full_attention");
  const double usual = fields.text("model_type") == "gemma3_text" ? 1e6 : 10000;
  model.rope_theta = rope.number("rope_theta", fields.number("rope_theta", fields.number(base, usual)));
  model.rope_scaling = rope.scaling();
  const double part = rope.number("partial_rotary_factor", fields.number(share, default_share));
  if (part <= 0 || part > 1) fields.refuse(share, "a number above 0, at most 1");
  if (part < 1) model.rotary_width = static_cast<std::int64_t>(static_cast<double>(model.head_width()) * part);
  const bool grows = rope.type() == "dynamic" && !rope.has("original_max_position_embeddings");
  model.max_length =
      grows ? longest_context : std::min(fields.whole("max_position_embeddings", 2048), longest_context);
}

CheckpointPlan llama_plan(const CheckpointFields& fields) {
  const std::string type = fields.text("model_type");
  const Relative relative{type};
  CheckpointPlan plan{checked(llama_config(fields, relative)), {}};
  const ModelConfig& model = plan.config.model;
  const Biases given = biases(fields);
  std::vector<TensorRow>& tensors = plan.tensors;
  const auto norm = [&](const std::string& own, const std::string& theirs, TensorChange change = TensorChange::none) {
    add_linear(tensors, own, {{theirs, 0, change}}, false);
    tensors.back().parts.front().added = relative.gemma ? 1 : 0;
  };
  add_tensor(tensors, "embedding.weight", {"model.embed_tokens.weight"});
  if (!model.tied_embeddings) add_tensor(tensors, "output_weight", {"lm_head.weight"});
  for (std::int64_t i = 0; i < model.num_decoder_layers; ++i) {
    const std::string layer = fmt::format("decoder.layers.{}.", i), stored = fmt::format("model.layers.{}.", i);
    add_projections(tensors, layer + "self_attn", stored + "self_attn", model, TensorChange::interleaved);
    tensors.back().optional = model.biases && !given.projections;
    for (const char* part : {"self_attn.q_norm", "self_attn.k_norm"})
      if (relative.query_key_norm) norm(layer + part, stored + part, TensorChange::interleaved);
    const auto add = [&](const char* own, const char* theirs, bool bias) {
      add_linear(tensors, layer + own, {{stored + theirs}}, model.biases);
      tensors.back().optional = model.biases && !bias;
    };
    add("self_attn.out_proj", "self_attn.o_proj", given.attention_output);
    add("linear1", "mlp.gate_proj", given.feed_forward);
    add("linear_v", "mlp.up_proj", given.feed_forward);
    add("linear2", "mlp.down_proj", given.feed_forward);
    norm(layer + "norm1", stored + "input_layernorm");
    if (relative.output_norms) norm(layer + "self_attn_output_norm", stored + "post_attention_layernorm");
    norm(layer + "norm2",
         stored + (relative.output_norms ? "pre_feedforward_layernorm" : "post_attention_layernorm"));
    if (relative.output_norms) norm(layer + "feed_forward_output_norm", stored + "post_feedforward_layernorm");
  }
  norm("decoder.norm", "model.norm");
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
