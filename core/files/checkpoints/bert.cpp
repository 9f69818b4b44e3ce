// BERT and its relatives, as in transformers' modeling_bert.py (1810.04805): post-norm encoders with learned positions,
// token types and a norm after the embeddings. RoBERTa (1907.11692), DistilBERT (1910.01108), ALBERT (1909.11942) and
// ELECTRA (2003.10555) have other names, and heads of their own.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "files/checkpoints/families.h"

namespace attnscope {
namespace {

// Names of tensors in a layer.
struct LayerNames {
  const char *query, *key, *value, *out, *attention_norm, *inner, *outer, *output_norm;
};
constexpr LayerNames bert_layer = {
    "attention.self.query",       "attention.self.key", "attention.self.value", "attention.output.dense",
    "attention.output.LayerNorm", "intermediate.dense", "output.dense",         "output.LayerNorm"};
constexpr LayerNames distilbert_layer = {"attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
                                         "sa_layer_norm",   "ffn.lin1",        "ffn.lin2",        "output_layer_norm"};
constexpr LayerNames albert_layer = {"attention.query", "attention.key",        "attention.value",
                                     "attention.dense", "attention.LayerNorm",  "ffn",
                                     "ffn_output",      "full_layer_layer_norm"};

// Names of tensors in the head for masked tokens: a map, a norm, and the output matrix with its bias.
struct HeadNames {
  const char *dense, *norm, *decoder, *bias;
};
constexpr HeadNames roberta_head = {"lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"};

// Names of fields in config.json.
struct FieldNames {
  const char *width, *heads, *layers, *inner_width, *activation;
};
constexpr FieldNames bert_fields = {"hidden_size", "num_attention_heads", "num_hidden_layers", "intermediate_size",
                                    "hidden_act"};

struct EncoderFamily {
  std::string_view model_type;
  const char* tokenizer;     // family
  const char* prefix;        // absent in bare models
  const char* layer_prefix;  // a format of the layer's number
  LayerNames layer;
  HeadNames head;
  FieldNames fields = bert_fields;
};

constexpr std::array encoder_families = {
    EncoderFamily{"bert",
                  "bert",
                  "bert.",
                  "encoder.layer.{}.",
                  bert_layer,
                  {"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.decoder",
                   "cls.predictions.bias"}},
    EncoderFamily{"roberta", "gpt2", "roberta.", "encoder.layer.{}.", bert_layer, roberta_head},
    EncoderFamily{"xlm-roberta", "xlm-roberta", "roberta.", "encoder.layer.{}.", bert_layer, roberta_head},
    EncoderFamily{"distilbert",
                  "bert",
                  "distilbert.",
                  "transformer.layer.{}.",
                  distilbert_layer,
                  {"vocab_transform", "vocab_layer_norm", "vocab_projector", "vocab_projector.bias"},
                  {"dim", "n_heads", "n_layers", "hidden_dim", "activation"}},
    EncoderFamily{"albert",
                  "albert",
                  "albert.",
                  "encoder.albert_layer_groups.{}.albert_layers.0.",
                  albert_layer,
                  {"predictions.dense", "predictions.LayerNorm", "predictions.decoder", "predictions.bias"}},
    EncoderFamily{"electra",
                  "bert",
                  "electra.",
                  "encoder.layer.{}.",
                  bert_layer,
                  {"generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head",
                   "generator_lm_head.bias"}},
};

const EncoderFamily& family_of(const CheckpointFields& fields) {
  return *std::ranges::find(encoder_families, fields.text("model_type"), &EncoderFamily::model_type);
}

bool is_roberta(const EncoderFamily& family) {
  return family.model_type.ends_with("roberta");
}

std::string activation(const CheckpointFields& fields, const EncoderFamily& family) {
  const std::string own =
      own_name(fields, family.fields.activation, activations,
               fields.text(family.fields.activation, family.model_type == "albert" ? "gelu_new" : "gelu"));
  // The heads of these have an exact GELU, whatever the layers have.
  if ((is_roberta(family) || family.model_type == "electra") && own != "gelu")
    fields.refuse(family.fields.activation, "gelu");
  return own;
}

// The class that saved the weights ends in ForMaskedLM or the like; the other heads are not used.
std::string head_of(const CheckpointFields& fields, const EncoderFamily& family) {
  const std::vector<std::string> classes = fields.texts("architectures");
  const std::string name = classes.empty() ? "ForMaskedLM" : classes.front();
  const bool electra = family.model_type == "electra";
  if (name.ends_with("ForPreTraining")) return electra ? "replaced" : "tokens";
  return name.ends_with("ForMaskedLM") || name.ends_with("LMHeadModel") ? "tokens" : "none";
}

Config encoder_config(const CheckpointFields& fields, const EncoderFamily& family) {
  if (const std::string positions = fields.text("position_embedding_type", "absolute"); positions != "absolute")
    fields.refuse("position_embedding_type", "\"absolute\"");
  for (const char* field : {"is_decoder", "add_cross_attention", "sinusoidal_pos_embds"}) fields.must_be_false(field);
  const bool albert = family.model_type == "albert", distilled = family.model_type == "distilbert";
  if (albert && fields.whole("inner_group_num", 1) != 1) fields.refuse("inner_group_num", "1");
  Config config = checkpoint_config(fields, family.tokenizer);
  ModelConfig& model = config.model;
  model.architecture = "masked-lm";
  model.head = head_of(fields, family);
  model.d_model = fields.whole(family.fields.width);
  model.d_embedding = albert || family.model_type == "electra" ? fields.whole("embedding_size", 128) : 0;
  if (model.d_embedding == model.d_model) model.d_embedding = 0;
  model.num_heads = fields.whole(family.fields.heads);
  model.num_encoder_layers = fields.whole(family.fields.layers);
  model.layer_groups = albert ? fields.whole("num_hidden_groups") : 0;
  model.d_ff = fields.whole(family.fields.inner_width);
  model.norm = "post";
  model.final_norm = false;
  model.norm_epsilon = distilled ? 1e-12 : fields.number("layer_norm_eps", is_roberta(family) ? 1e-5 : 1e-12);
  model.head_epsilon = albert && model.head == "tokens" ? 1e-5 : 0;  // of torch.nn, whatever the file says
  model.activation = activation(fields, family);
  model.positions = "learned";
  model.embedding_norm = true;
  model.token_types = distilled ? 0 : fields.whole("type_vocab_size", 2);
  model.scaled_embeddings = false;
  model.tied_embeddings = model.head != "tokens" || fields.truth("tie_word_embeddings", true);
  model.output_bias = model.head == "tokens";
  model.padding_id = fields.token("pad_token_id", is_roberta(family) ? 1 : 0);
  // RoBERTa counts positions from the padding token's id + 1. An id beyond the vocabulary is refused later.
  const bool shifted = is_roberta(family) && model.padding_id < config.tokenizer.vocab_size;
  model.max_length = fields.whole("max_position_embeddings") - (shifted ? model.padding_id + 1 : 0);
  model.start_id = model.end_id = -1;  // only the tokenizer's files name them
  return config;
}

// With and without the prefix of bare models, and as in old TensorFlow files.
std::vector<std::string> stored_names(const EncoderFamily& family, const std::string& name) {
  std::vector<std::string> names = {family.prefix + name, name};
  for (const auto& [now, before] : {std::pair(".weight", ".gamma"), std::pair(".bias", ".beta")})
    if (name.ends_with(now) && (name.find("LayerNorm.") != std::string::npos))
      for (std::size_t i = 0; i < 2; ++i)
        names.push_back(names[i].substr(0, names[i].size() - std::string_view(now).size()) + before);
  return names;
}

}  // namespace

CheckpointPlan encoder_plan(const CheckpointFields& fields) {
  const EncoderFamily& family = family_of(fields);
  CheckpointPlan plan{checked(encoder_config(fields, family)), {}};
  const ModelConfig& model = plan.config.model;
  std::vector<TensorRow>& tensors = plan.tensors;
  const auto table = [&](const char* parameter, const std::string& name) {
    add_tensor(tensors, parameter, stored_names(family, name));
  };
  const auto linear = [&](const std::string& parameter, const std::string& name) {
    for (const char* kind : {".weight", ".bias"})
      add_tensor(tensors, parameter + kind, stored_names(family, name + kind));
  };
  table("embedding.weight", "embeddings.word_embeddings.weight");
  table("source_positions", "embeddings.position_embeddings.weight");
  if (is_roberta(family)) tensors.back().parts.front().skipped = model.padding_id + 1;
  if (model.token_types > 0) table("token_types", "embeddings.token_type_embeddings.weight");
  linear("embedding_norm", "embeddings.LayerNorm");
  if (model.d_embedding > 0)
    linear("widening", family.model_type == "albert" ? "encoder.embedding_hidden_mapping_in" : "embeddings_project");
  const std::int64_t own_layers = model.layer_groups > 0 ? model.layer_groups : model.num_encoder_layers;
  for (std::int64_t i = 0; i < own_layers; ++i) {
    const std::string layer = fmt::format("encoder.layers.{}.", i),
                      stored = fmt::format(fmt::runtime(family.layer_prefix), i);
    for (const auto& [own, kind] : {std::pair("weight", ".weight"), std::pair("bias", ".bias")}) {
      TensorRow& row = tensors.emplace_back(TensorRow{layer + "self_attn.in_proj_" + own, {}});
      for (const char* part : {family.layer.query, family.layer.key, family.layer.value})
        row.parts.push_back({stored_names(family, stored + part + kind), model.d_model});
    }
    linear(layer + "self_attn.out_proj", stored + family.layer.out);
    linear(layer + "norm1", stored + family.layer.attention_norm);
    linear(layer + "linear1", stored + family.layer.inner);
    linear(layer + "linear2", stored + family.layer.outer);
    linear(layer + "norm2", stored + family.layer.output_norm);
  }
  if (model.head == "replaced") {
    linear("head.dense", "discriminator_predictions.dense");
    linear("head.prediction", "discriminator_predictions.dense_prediction");
  }
  if (model.head == "tokens") {
    linear("head.dense", family.head.dense);
    linear("head.norm", family.head.norm);
    if (!model.tied_embeddings) table("output_weight", family.head.decoder + std::string(".weight"));
    table("output_bias", family.head.bias);
  }
  return plan;
}

}  // namespace attnscope
