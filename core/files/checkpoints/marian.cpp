// Marian and OPUS-MT, as in transformers' modeling_marian.py and convert_marian_to_pytorch.py: the Transformer of the
// paper, with sinusoids in halves, no final norm, and a bias on every logit. BART (1910.13461), mBART (2001.08210),
// M2M-100 and NLLB (2010.11125, 2207.04672) and Pegasus (1912.08777) have the same names.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "files/checkpoints/families.h"

namespace attnscope {
namespace {

struct TranslationFamily {
  std::string_view model_type;
  const char* tokenizer;  // family
  const char* positions;
  bool pre_norm = false;  // and a norm after each stack
  bool embedding_norm = false;
};

constexpr std::array translation_families = {TranslationFamily{"marian", "marian", "sinusoidal-halves"},
                                  TranslationFamily{"bart", "gpt2", "learned", false, true},
                                  TranslationFamily{"mbart", "json", "learned", true, true},
                                  TranslationFamily{"m2m_100", "m2m_100", "sinusoidal-fairseq", true},
                                  TranslationFamily{"pegasus", "json", "sinusoidal-halves", true}};

const TranslationFamily& translation_family(const CheckpointFields& fields) {
  return *std::ranges::find(translation_families, fields.text("model_type"), &TranslationFamily::model_type);
}

Config marian_config(const CheckpointFields& fields, const TranslationFamily& family) {
  const bool marian = family.model_type == "marian", learned = std::string_view(family.positions) == "learned";
  for (const auto& [field, value] : {std::pair("normalize_before", family.pre_norm),
                                     std::pair("normalize_embedding", family.embedding_norm),
                                     std::pair("add_final_layer_norm", family.pre_norm),
                                     std::pair("static_position_embeddings", !learned)})
    if (fields.truth(field, value) != value) fields.refuse(field, value ? "true" : "false");
  for (const char* field : {"share_encoder_decoder_embeddings", "tie_word_embeddings"})
    if (marian && !fields.truth(field, true)) fields.refuse(field, "true");
  Config config = checkpoint_config(fields, family.tokenizer);
  ModelConfig& model = config.model;
  model.d_model = fields.whole("d_model");
  model.num_heads = fields.whole("encoder_attention_heads");
  model.num_decoder_heads = fields.whole("decoder_attention_heads");
  if (model.num_decoder_heads == model.num_heads) model.num_decoder_heads = 0;
  model.d_ff = fields.whole("encoder_ffn_dim");
  model.decoder_d_ff = fields.whole("decoder_ffn_dim");
  if (model.decoder_d_ff == model.d_ff) model.decoder_d_ff = 0;
  model.num_encoder_layers = fields.whole("encoder_layers");
  model.num_decoder_layers = fields.whole("decoder_layers");
  model.activation =
      own_name(fields, "activation_function", activations, fields.text("activation_function"));
  model.norm = family.pre_norm ? "pre" : "post";
  model.final_norm = family.pre_norm;
  model.embedding_norm = family.embedding_norm;
  model.positions = family.positions;
  model.max_length = fields.whole("max_position_embeddings", 1024);
  model.output_bias = true;
  model.tied_embeddings = fields.truth("tie_word_embeddings", true);
  model.tied_inputs = !model.tied_embeddings;
  model.scaled_embeddings = fields.truth("scale_embedding", false);
  model.dropout = fields.number("dropout", 0.1);
  model.padding_id = fields.token("pad_token_id");
  model.start_id = fields.token("decoder_start_token_id");
  model.end_id = fields.token("eos_token_id");
  model.first_id = fields.token("forced_bos_token_id", -1);
  model.banned_id = fields.suppressed_token();
  return config;
}

// Bare models have no "model." in front.
std::vector<std::string> stored_names(const std::string& name) {
  return {"model." + name, name};
}

void add_layers(std::vector<TensorRow>& tensors, const ModelConfig& model, bool decoder) {
  const char* const stack = decoder ? "decoder" : "encoder";
  for (std::int64_t i = 0; i < (decoder ? model.num_decoder_layers : model.num_encoder_layers); ++i) {
    const std::string layer = fmt::format("{}.layers.{}.", stack, i), stored = "model." + layer;
    const std::size_t first = tensors.size();
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
    for (std::size_t row = first; row < tensors.size(); ++row)
      for (TensorPart& part : tensors[row].parts)
        part.names.push_back(part.names.front().substr(std::string_view("model.").size()));
  }
}

}  // namespace

CheckpointPlan marian_plan(const CheckpointFields& fields) {
  const TranslationFamily& family = translation_family(fields);
  CheckpointPlan plan{checked(marian_config(fields, family)), {}};
  const ModelConfig& model = plan.config.model;
  std::vector<TensorRow>& tensors = plan.tensors;
  add_tensor(tensors, "embedding.weight",
             {"model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight",
              "shared.weight", "encoder.embed_tokens.weight"});
  if (!model.tied_embeddings) add_tensor(tensors, "output_weight", {"lm_head.weight"});
  tensors.push_back({"output_bias", {{{"final_logits_bias"}, 0, TensorChange::flattened}}, true});
  for (const bool decoder : {false, true}) {
    const std::string stack = decoder ? "decoder" : "encoder", own = decoder ? "target_" : "source_";
    // Old files store the sinusoids, rounded to their data type. Learned positions begin at row 2.
    const bool learned = model.positions == "learned";
    if (learned || model.positions == "sinusoidal-halves")
      add_tensor(tensors, own + "positions", stored_names(stack + ".embed_positions.weight"), !learned);
    if (learned) tensors.back().parts.front().skipped = 2;
    for (const char* kind : {".weight", ".bias"}) {
      if (family.embedding_norm)
        add_tensor(tensors, (decoder ? "target_embedding_norm" : "embedding_norm") + std::string(kind),
                   stored_names(stack + ".layernorm_embedding" + kind));
      if (family.pre_norm) add_tensor(tensors, stack + ".norm" + kind, stored_names(stack + ".layer_norm" + kind));
    }
    add_layers(tensors, model, decoder);
  }
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
          {"decoder_attention_heads", model.of_layer(true, 0).num_heads},
          {"encoder_ffn_dim", model.d_ff},
          {"decoder_ffn_dim", model.of_layer(true, 0).d_ff},
          {"activation_function", other_name(activations, model.activation)},
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
