// Llama, as in transformers' modeling_llama.py (arXiv 2302.13971): pre-norm RMSNorm, SwiGLU, RoPE on halves,
// grouped-query attention.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "files/checkpoints/families.h"

namespace attnscope {
namespace {

double rope_theta(const CheckpointFields& fields) {
  // The newest files have both in rope_parameters; older ones have separate fields for scaling and base.
  for (const char* field : {"rope_parameters", "rope_scaling"}) {
    const nlohmann::json scaling = fields.object(field);
    for (const char* key : {"rope_type", "type"}) {
      const auto found = scaling.find(key);
      if (found != scaling.end() && *found != "default") fields.refuse(field, "the type \"default\"");
    }
  }
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

bool biases(const CheckpointFields& fields) {
  const bool wanted = fields.truth("attention_bias", false);
  if (fields.truth("mlp_bias", false) != wanted) fields.refuse("mlp_bias", "the same as attention_bias");
  return wanted;
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
  model.biases = biases(fields);
  model.positions = "rope";
  model.rope_theta = rope_theta(fields);
  model.scaled_embeddings = false;
  model.tied_embeddings = fields.truth("tie_word_embeddings", false);
  model.max_length = std::min<std::int64_t>(fields.whole("max_position_embeddings", 2048), longest_context);
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
  std::vector<TensorRow>& tensors = plan.tensors;
  add_tensor(tensors, "embedding.weight", {"model.embed_tokens.weight"});
  if (!model.tied_embeddings) add_tensor(tensors, "output_weight", {"lm_head.weight"});
  for (std::int64_t i = 0; i < model.num_decoder_layers; ++i) {
    const std::string layer = fmt::format("decoder.layers.{}.", i), stored = fmt::format("model.layers.{}.", i);
    add_projections(tensors, layer + "self_attn", stored + "self_attn", model, TensorChange::interleaved);
    add_linear(tensors, layer + "self_attn.out_proj", {{stored + "self_attn.o_proj"}}, model.biases);
    add_linear(tensors, layer + "linear1", {{stored + "mlp.gate_proj"}}, model.biases);
    add_linear(tensors, layer + "linear_v", {{stored + "mlp.up_proj"}}, model.biases);
    add_linear(tensors, layer + "linear2", {{stored + "mlp.down_proj"}}, model.biases);
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
  return fields;
}

}  // namespace attnscope
