// GPT-2, as in transformers' modeling_gpt2.py: pre-norm, learned positions, tanh GELU, matrices stored as in × out.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "files/checkpoints/families.h"

namespace attnscope {
namespace {

Config gpt2_config(const CheckpointFields& fields) {
  for (const char* field : {"add_cross_attention", "scale_attn_by_inverse_layer_idx"}) fields.must_be_false(field);
  Config config = checkpoint_config(fields, "gpt2");
  ModelConfig& model = config.model;
  model.architecture = "decoder-only";
  model.d_model = fields.whole("n_embd");
  model.num_heads = fields.whole("n_head");
  model.num_decoder_layers = fields.whole("n_layer");
  model.d_ff = fields.whole("n_inner", 4 * model.d_model);
  model.max_length = fields.whole("n_positions");
  model.norm = "pre";
  model.norm_epsilon = fields.number("layer_norm_epsilon", 1e-5);
  model.activation = own_name(fields, "activation_function", activations,
                              fields.text("activation_function", "gelu_new"));
  model.positions = "learned";
  model.scaled_embeddings = false;
  model.scaled_attention = fields.truth("scale_attn_weights", true);
  model.tied_embeddings = fields.truth("tie_word_embeddings", true);
  model.dropout = fields.number("resid_pdrop", 0.1);
  model.end_id = fields.token("eos_token_id");
  model.start_id = fields.token("bos_token_id", model.end_id);
  model.padding_id = fields.token("pad_token_id", -1);
  model.ends_text = true;
  return config;
}

// The original files have no prefix.
std::vector<std::string> either(const std::string& name) {
  return {"transformer." + name, name};
}

}  // namespace

CheckpointPlan gpt2_plan(const CheckpointFields& fields) {
  CheckpointPlan plan{checked(gpt2_config(fields)), {}};
  const ModelConfig& model = plan.config.model;
  std::vector<TensorRow>& tensors = plan.tensors;
  const auto conv1d = [&](const std::string& weight, const std::string& bias, const std::string& name) {
    tensors.push_back({weight, {{either(name + ".weight"), 0, TensorChange::transposed}}});
    add_tensor(tensors, bias, either(name + ".bias"));
  };
  const auto norm = [&](const std::string& parameter, const std::string& name) {
    for (const char* kind : {".weight", ".bias"}) add_tensor(tensors, parameter + kind, either(name + kind));
  };
  add_tensor(tensors, "embedding.weight", either("wte.weight"));
  add_tensor(tensors, "target_positions", either("wpe.weight"));
  if (!model.tied_embeddings) add_tensor(tensors, "output_weight", {"lm_head.weight"});
  for (std::int64_t i = 0; i < model.num_decoder_layers; ++i) {
    const std::string layer = fmt::format("decoder.layers.{}.", i), stored = fmt::format("h.{}.", i);
    conv1d(layer + "self_attn.in_proj_weight", layer + "self_attn.in_proj_bias", stored + "attn.c_attn");
    conv1d(layer + "self_attn.out_proj.weight", layer + "self_attn.out_proj.bias", stored + "attn.c_proj");
    conv1d(layer + "linear1.weight", layer + "linear1.bias", stored + "mlp.c_fc");
    conv1d(layer + "linear2.weight", layer + "linear2.bias", stored + "mlp.c_proj");
    norm(layer + "norm1", stored + "ln_1");
    norm(layer + "norm2", stored + "ln_2");
  }
  norm("decoder.norm", "ln_f");
  return plan;
}

nlohmann::json gpt2_fields(const ModelConfig& model) {
  return {{"model_type", "gpt2"},
          {"architectures", {"GPT2LMHeadModel"}},
          {"n_embd", model.d_model},
          {"n_head", model.num_heads},
          {"n_layer", model.num_decoder_layers},
          {"n_inner", model.d_ff},
          {"n_positions", model.max_length},
          {"n_ctx", model.max_length},
          {"layer_norm_epsilon", model.norm_epsilon},
          {"activation_function", other_name(activations, model.activation)},
          {"scale_attn_weights", model.scaled_attention},
          {"resid_pdrop", model.dropout},
          {"embd_pdrop", model.dropout},
          {"attn_pdrop", model.dropout}};
}

}  // namespace attnscope
