// T5 (arXiv 1910.10683), version 1.1 and mT5, as in transformers' modeling_t5.py: pre-norm RMSNorm, no biases, no 1/√d,
// and a learned distance bias stored in the first block of each stack.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "files/checkpoints/families.h"

namespace attnscope {
namespace {

bool is_mt5(const CheckpointFields& fields) {
  return fields.text("model_type") == "mt5";
}

// Its gated GELU is the tanh approximation (dense_act_fn gelu_new).
constexpr std::array t5_activations = {OtherName{"relu", "relu"}, OtherName{"geglu", "gated-gelu"},
                                       OtherName{"swiglu", "gated-silu"}};

std::string t5_activation(const CheckpointFields& fields) {
  const std::string name = fields.text("feed_forward_proj", is_mt5(fields) ? "gated-gelu" : "relu");
  const auto* const found = std::ranges::find(t5_activations, name, &OtherName::theirs);
  if (found != t5_activations.end()) return std::string(found->own);
  fields.refuse("feed_forward_proj", "relu, gated-gelu, gated-silu");
}

Config t5_config(const CheckpointFields& fields) {
  if (fields.whole("relative_attention_num_buckets", 32) != 32) fields.refuse("relative_attention_num_buckets", "32");
  if (fields.whole("relative_attention_max_distance", 128) != 128)
    fields.refuse("relative_attention_max_distance", "128");
  Config config = checkpoint_config(fields, "t5");
  ModelConfig& model = config.model;
  model.d_model = fields.whole("d_model");
  model.num_heads = fields.whole("num_heads");
  model.d_head = fields.whole("d_kv");
  model.d_ff = fields.whole("d_ff");
  model.num_encoder_layers = fields.whole("num_layers");
  model.num_decoder_layers = fields.whole("num_decoder_layers", model.num_encoder_layers);
  model.norm = "pre";
  model.norm_kind = "rms";
  model.norm_epsilon = fields.number("layer_norm_epsilon", 1e-6);
  model.activation = t5_activation(fields);
  model.biases = false;
  model.positions = "t5";
  model.scaled_attention = false;
  model.scaled_embeddings = false;
  model.tied_embeddings = fields.truth("tie_word_embeddings", !is_mt5(fields));
  model.tied_inputs = !model.tied_embeddings;
  model.scaled_output = model.tied_embeddings;
  // Relative positions have no limit: n_positions is the length in training.
  model.max_length = longest_context;
  model.dropout = fields.number("dropout_rate", 0.1);
  model.padding_id = fields.token("pad_token_id", 0);
  model.start_id = fields.token("decoder_start_token_id", model.padding_id);
  model.end_id = fields.token("eos_token_id", 1);
  return config;
}

void add_stack(std::vector<TensorRow>& tensors, const ModelConfig& model, bool decoder) {
  const char* const stack = decoder ? "decoder" : "encoder";
  add_tensor(tensors, fmt::format("{}.position_scheme.relative_attention_bias", stack),
             {fmt::format("{}.block.0.layer.0.SelfAttention.relative_attention_bias.weight", stack)});
  for (std::int64_t i = 0; i < (decoder ? model.num_decoder_layers : model.num_encoder_layers); ++i) {
    const std::string layer = fmt::format("{}.layers.{}.", stack, i);
    int number = 0;
    const auto stored = [&] { return fmt::format("{}.block.{}.layer.{}.", stack, i, number); };
    const auto norm = [&] {
      add_norm(tensors, fmt::format("{}norm{}", layer, number + 1), stored() + "layer_norm", false);
      ++number;
    };
    const auto attention = [&](const char* own, const char* theirs) {
      const std::int64_t width = model.num_heads * model.head_width();
      const std::string prefix = stored() + theirs;
      add_linear(tensors, layer + own + ".out_proj", {{prefix + ".o"}}, false);
      TensorRow projections{layer + own + ".in_proj_weight", {}};
      for (const char* part : {".q.weight", ".k.weight", ".v.weight"})
        projections.parts.push_back({{prefix + part}, width});
      tensors.push_back(std::move(projections));
      norm();
    };
    attention("self_attn", "SelfAttention");
    if (decoder) attention("multihead_attn", "EncDecAttention");
    const std::string dense = stored() + "DenseReluDense.";
    add_linear(tensors, layer + "linear1", {{dense + (model.is_gated() ? "wi_0" : "wi")}}, false);
    if (model.is_gated()) add_linear(tensors, layer + "linear_v", {{dense + "wi_1"}}, false);
    add_linear(tensors, layer + "linear2", {{dense + "wo"}}, false);
    norm();
  }
  add_norm(tensors, fmt::format("{}.norm", stack), fmt::format("{}.final_layer_norm", stack), false);
}

}  // namespace

CheckpointPlan t5_plan(const CheckpointFields& fields) {
  CheckpointPlan plan{checked(t5_config(fields)), {}};
  add_tensor(plan.tensors, "embedding.weight", {"shared.weight", "encoder.embed_tokens.weight"});
  if (!plan.config.model.tied_embeddings) add_tensor(plan.tensors, "output_weight", {"lm_head.weight"});
  add_stack(plan.tensors, plan.config.model, false);
  add_stack(plan.tensors, plan.config.model, true);
  return plan;
}

nlohmann::json t5_fields(const ModelConfig& model) {
  return {{"model_type", "t5"},
          {"architectures", {"T5ForConditionalGeneration"}},
          {"is_encoder_decoder", true},
          {"d_model", model.d_model},
          {"d_kv", model.head_width()},
          {"d_ff", model.d_ff},
          {"num_heads", model.num_heads},
          {"num_layers", model.num_encoder_layers},
          {"num_decoder_layers", model.num_decoder_layers},
          {"feed_forward_proj", other_name(t5_activations, model.activation)},
          {"layer_norm_epsilon", model.norm_epsilon},
          {"relative_attention_num_buckets", 32},
          {"relative_attention_max_distance", 128},
          {"n_positions", model.max_length},
          {"dropout_rate", model.dropout}};
}

}  // namespace attnscope
