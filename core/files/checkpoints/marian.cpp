// Marian and OPUS-MT, as in transformers' modeling_marian.py and convert_marian_to_pytorch.py: the Transformer of the
// paper, with sinusoids in halves, no final norm, and a bias on every logit.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "files/checkpoints/families.h"

namespace attnscope {
namespace {

// Returns the value common to both sides; throws if they differ.
std::int64_t on_both_sides(const CheckpointFields& fields, const std::string& field) {
  const std::string encoder = "encoder_" + field, decoder = "decoder_" + field;
  const std::int64_t value = fields.whole(encoder.c_str());
  if (fields.whole(decoder.c_str()) != value) fields.refuse(decoder, fmt::format("{}, as {}", value, encoder));
  return value;
}

constexpr std::array marian_activations = {OtherName{"relu", "relu"}, OtherName{"gelu", "gelu"},
                                           OtherName{"swish", "swish"}, OtherName{"gelu-tanh", "gelu_new"}};

std::string marian_activation(const CheckpointFields& fields) {
  const std::string name = fields.text("activation_function");
  if (name == "silu") return "swish";
  const auto* const found = std::ranges::find(marian_activations, name, &OtherName::theirs);
  if (found != marian_activations.end()) return std::string(found->own);
  fields.refuse("activation_function", "swish, silu, relu, gelu, gelu_new");
}

Config marian_config(const CheckpointFields& fields) {
  for (const char* field : {"normalize_before", "normalize_embedding", "add_final_layer_norm"})
    fields.must_be_false(field);
  for (const char* field : {"share_encoder_decoder_embeddings", "tie_word_embeddings", "static_position_embeddings"})
    if (!fields.truth(field, true)) fields.refuse(field, "true");
  Config config = checkpoint_config(fields, "marian");
  ModelConfig& model = config.model;
  model.d_model = fields.whole("d_model");
  model.num_heads = on_both_sides(fields, "attention_heads");
  model.d_ff = on_both_sides(fields, "ffn_dim");
  model.num_encoder_layers = fields.whole("encoder_layers");
  model.num_decoder_layers = fields.whole("decoder_layers");
  model.activation = marian_activation(fields);
  model.positions = "sinusoidal-halves";
  model.max_length = fields.whole("max_position_embeddings", 1024);
  model.final_norm = false;
  model.output_bias = true;
  model.scaled_embeddings = fields.truth("scale_embedding", false);
  model.dropout = fields.number("dropout", 0.1);
  model.padding_id = fields.token("pad_token_id");
  model.start_id = fields.token("decoder_start_token_id");
  model.end_id = fields.token("eos_token_id");
  model.banned_id = fields.suppressed_token();
  return config;
}

void add_layers(std::vector<TensorRow>& tensors, const ModelConfig& model, bool decoder) {
  const char* const stack = decoder ? "decoder" : "encoder";
  for (std::int64_t i = 0; i < (decoder ? model.num_decoder_layers : model.num_encoder_layers); ++i) {
    const std::string layer = fmt::format("{}.layers.{}.", stack, i), stored = "model." + layer;
    const auto attention = [&](const char* own, const char* theirs) {
      add_projections(tensors, layer + own, stored + theirs, model);
      add_linear(tensors, fmt::format("{}{}.out_proj", layer, own), {{fmt::format("{}{}.out_proj", stored, theirs)}},
                 true);
    };
    attention("self_attn", "self_attn");
    add_norm(tensors, layer + "norm1", stored + "self_attn_layer_norm", true);
    if (decoder) {
      attention("multihead_attn", "encoder_attn");
      add_norm(tensors, layer + "norm2", stored + "encoder_attn_layer_norm", true);
    }
    add_linear(tensors, layer + "linear1", {{stored + "fc1"}}, true);
    add_linear(tensors, layer + "linear2", {{stored + "fc2"}}, true);
    add_norm(tensors, layer + (decoder ? "norm3" : "norm2"), stored + "final_layer_norm", true);
  }
}

}  // namespace

CheckpointPlan marian_plan(const CheckpointFields& fields) {
  CheckpointPlan plan{checked(marian_config(fields)), {}};
  add_tensor(plan.tensors, "embedding.weight",
             {"model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"});
  plan.tensors.push_back({"output_bias", {{{"final_logits_bias"}, 0, TensorChange::flattened}}, true});
  // Old files store the sinusoids, rounded to their data type.
  add_tensor(plan.tensors, "source_positions", {"model.encoder.embed_positions.weight"}, true);
  add_tensor(plan.tensors, "target_positions", {"model.decoder.embed_positions.weight"}, true);
  add_layers(plan.tensors, plan.config.model, false);
  add_layers(plan.tensors, plan.config.model, true);
  return plan;
}

nlohmann::json marian_fields(const ModelConfig& model) {
  return {{"model_type", "marian"},
          {"architectures", {"MarianMTModel"}},
          {"is_encoder_decoder", true},
          {"d_model", model.d_model},
          {"encoder_layers", model.num_encoder_layers},
          {"decoder_layers", model.num_decoder_layers},
          {"encoder_attention_heads", model.num_heads},
          {"decoder_attention_heads", model.num_heads},
          {"encoder_ffn_dim", model.d_ff},
          {"decoder_ffn_dim", model.d_ff},
          {"activation_function", other_name(marian_activations, model.activation)},
          {"max_position_embeddings", model.max_length},
          {"scale_embedding", model.scaled_embeddings},
          {"static_position_embeddings", true},
          {"share_encoder_decoder_embeddings", true},
          {"tie_word_embeddings", true},
          {"dropout", model.dropout},
          {"attention_dropout", model.dropout},
          {"activation_dropout", model.dropout}};
}

}  // namespace attnscope
