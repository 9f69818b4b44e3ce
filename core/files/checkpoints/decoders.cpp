// Decoder-only models after GPT-2, as in transformers' modeling_….py: GPT-NeoX and Pythia (2204.06745, 2304.01373),
// GPT-Neo and TinyStories, Phi (2309.05463), OPT (2205.01068) and BLOOM (2211.05100). Each is a row of names and a
// function of its fields.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "files/checkpoints/families.h"

namespace attnscope {
namespace {

void read_activation(const CheckpointFields& fields, ModelConfig& model, const char* field, const char* usual) {
  model.activation = own_name(fields, field, activations, fields.text(field, usual));
}

void read_sizes(const CheckpointFields& fields, ModelConfig& model) {
  model.d_model = fields.whole("hidden_size");
  model.num_heads = fields.whole("num_attention_heads");
  model.num_decoder_layers = fields.whole("num_hidden_layers");
}

void read_gpt_neox(const CheckpointFields& fields, ModelConfig& model) {
  if (!fields.truth("attention_bias", true)) fields.refuse("attention_bias", "true");
  read_sizes(fields, model);
  model.d_ff = fields.whole("intermediate_size", 4 * model.d_model);
  model.parallel_sublayers = fields.truth("use_parallel_residual", true);
  model.norm_epsilon = fields.number("layer_norm_eps", 1e-5);
  read_activation(fields, model, "hidden_act", "gelu");
  model.positions = "rope";
  read_rope(fields, model, "rotary_emb_base", "rotary_pct", 0.25);
  model.tied_embeddings = fields.truth("tie_word_embeddings", false);
}

// Its attention is local in some layers, and never divided by √d_k.
void read_gpt_neo(const CheckpointFields& fields, ModelConfig& model) {
  model.d_model = fields.whole("hidden_size");
  model.num_heads = fields.whole("num_heads");
  model.num_decoder_layers = fields.whole("num_layers");
  model.d_ff = fields.whole("intermediate_size", 4 * model.d_model);
  model.norm_epsilon = fields.number("layer_norm_epsilon", 1e-5);
  read_activation(fields, model, "activation_function", "gelu_new");
  model.positions = "learned";
  model.max_length = fields.whole("max_position_embeddings", 2048);
  model.scaled_attention = false;
  const std::vector<std::string> kinds = fields.repeated_texts("attention_types");
  if (std::ssize(kinds) != model.num_decoder_layers)
    fields.refuse("attention_types", fmt::format("kinds of {} layers", model.num_decoder_layers));
  std::vector<bool> local;
  for (const std::string& kind : kinds) {
    if (kind != "local" && kind != "global") fields.refuse("attention_types", "global, local");
    local.push_back(kind == "local");
  }
  set_windows(model, fields.whole("window_size", 256), local);
}

// Attention and feed-forward share one norm, which is read into both.
void read_phi(const CheckpointFields& fields, ModelConfig& model) {
  fields.must_be_false("qk_layernorm");
  read_sizes(fields, model);
  model.num_kv_heads = fields.whole("num_key_value_heads", model.num_heads);
  model.d_ff = fields.whole("intermediate_size", 4 * model.d_model);
  model.parallel_sublayers = true;
  model.norm_epsilon = fields.number("layer_norm_eps", 1e-5);
  read_activation(fields, model, "hidden_act", "gelu_new");
  model.positions = "rope";
  read_rope(fields, model, "rope_theta", "partial_rotary_factor", 0.5);
  model.tied_embeddings = fields.truth("tie_word_embeddings", false);
  model.output_bias = true;
}

// A narrow embedding matrix (word_embed_proj_dim) is multiplied with its projections when it is read.
void read_opt(const CheckpointFields& fields, ModelConfig& model) {
  for (const char* field : {"enable_bias", "layer_norm_elementwise_affine"})
    if (!fields.truth(field, true)) fields.refuse(field, "true");
  read_sizes(fields, model);
  model.d_ff = fields.whole("ffn_dim");
  const bool before = fields.truth("do_layer_norm_before", true);
  model.norm = before ? "pre" : "post";
  model.final_norm = before && !fields.truth("_remove_final_layer_norm", false);
  read_activation(fields, model, "activation_function", "relu");
  model.positions = "learned";
  model.max_length = fields.whole("max_position_embeddings", 2048);
  model.tied_embeddings = fields.truth("tie_word_embeddings", true) &&
                          fields.whole("word_embed_proj_dim", model.d_model) == model.d_model;
  model.padding_id = fields.token("pad_token_id", 1);
}

// The older name of a field, or the newer one.
std::int64_t either(const CheckpointFields& fields, const char* one, const char* other) {
  const std::int64_t value = fields.whole(one, -1);
  return value >= 0 ? value : fields.whole(other);
}

void read_bloom(const CheckpointFields& fields, ModelConfig& model) {
  fields.must_be_false("apply_residual_connection_post_layernorm");
  model.d_model = either(fields, "hidden_size", "n_embed");
  model.num_heads = either(fields, "n_head", "num_attention_heads");
  model.num_decoder_layers = either(fields, "num_hidden_layers", "n_layer");
  model.d_ff = 4 * model.d_model;
  model.norm_epsilon = fields.number("layer_norm_epsilon", 1e-5);
  model.activation = "gelu-tanh";
  model.positions = "alibi";
  model.embedding_norm = true;
  model.max_length = std::min(fields.whole("seq_length", 2048), longest_context);
}

struct DecoderFamily {
  std::string_view model_type;
  void (*read)(const CheckpointFields& fields, ModelConfig& model);
  std::array<const char*, 2> prefixes;  // with one of them, or without
  const char* embedding;
  const char* positions;       // null: not stored
  std::int64_t skipped;        // rows in front of the positions
  const char* embedding_norm;  // null: none
  const char* layer;           // a format of its number
  const char *norm1, *norm2;
  std::array<const char*, 3> projections;  // only the first if all are stacked, head by head
  bool projection_biases;
  const char *out, *inner, *outer, *final_norm, *output;
};

constexpr std::array decoder_families = {
    DecoderFamily{"gpt_neox",
                  read_gpt_neox,
                  {"gpt_neox.", ""},
                  "embed_in",
                  nullptr,
                  0,
                  nullptr,
                  "layers.{}.",
                  "input_layernorm",
                  "post_attention_layernorm",
                  {"attention.query_key_value", nullptr, nullptr},
                  true,
                  "attention.dense",
                  "mlp.dense_h_to_4h",
                  "mlp.dense_4h_to_h",
                  "final_layer_norm",
                  "embed_out"},
    DecoderFamily{"gpt_neo",
                  read_gpt_neo,
                  {"transformer.", ""},
                  "wte",
                  "wpe",
                  0,
                  nullptr,
                  "h.{}.",
                  "ln_1",
                  "ln_2",
                  {"attn.attention.q_proj", "attn.attention.k_proj", "attn.attention.v_proj"},
                  false,
                  "attn.attention.out_proj",
                  "mlp.c_fc",
                  "mlp.c_proj",
                  "ln_f",
                  "lm_head"},
    DecoderFamily{"phi",
                  read_phi,
                  {"model.", ""},
                  "embed_tokens",
                  nullptr,
                  0,
                  nullptr,
                  "layers.{}.",
                  "input_layernorm",
                  "input_layernorm",
                  {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
                  true,
                  "self_attn.dense",
                  "mlp.fc1",
                  "mlp.fc2",
                  "final_layernorm",
                  "lm_head"},
    DecoderFamily{"opt",
                  read_opt,
                  {"model.decoder.", "decoder."},
                  "embed_tokens",
                  "embed_positions",
                  2,
                  nullptr,
                  "layers.{}.",
                  "self_attn_layer_norm",
                  "final_layer_norm",
                  {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
                  true,
                  "self_attn.out_proj",
                  "fc1",
                  "fc2",
                  "final_layer_norm",
                  "lm_head"},
    DecoderFamily{"bloom",
                  read_bloom,
                  {"transformer.", ""},
                  "word_embeddings",
                  nullptr,
                  0,
                  "word_embeddings_layernorm",
                  "h.{}.",
                  "input_layernorm",
                  "post_attention_layernorm",
                  {"self_attention.query_key_value", nullptr, nullptr},
                  true,
                  "self_attention.dense",
                  "mlp.dense_h_to_4h",
                  "mlp.dense_4h_to_h",
                  "ln_f",
                  "lm_head"},
};

Config decoder_config(const CheckpointFields& fields, const DecoderFamily& family) {
  Config config = checkpoint_config(fields, "gpt2");
  ModelConfig& model = config.model;
  model.architecture = "decoder-only";
  model.norm = "pre";
  model.scaled_embeddings = false;
  model.tied_embeddings = fields.truth("tie_word_embeddings", true);
  model.end_id = fields.token("eos_token_id");
  model.start_id = fields.token("bos_token_id", model.end_id);
  model.padding_id = fields.token("pad_token_id", -1);
  model.ends_text = true;
  family.read(fields, model);
  return config;
}

}  // namespace

CheckpointPlan decoder_plan(const CheckpointFields& fields) {
  const DecoderFamily& family =
      *std::ranges::find(decoder_families, fields.text("model_type"), &DecoderFamily::model_type);
  CheckpointPlan plan{checked(decoder_config(fields, family)), {}};
  const ModelConfig& model = plan.config.model;
  std::vector<TensorRow>& tensors = plan.tensors;
  const auto stored = [&](const std::string& name) {
    return std::vector<std::string>{family.prefixes[0] + name, family.prefixes[1] + name};
  };
  const auto linear = [&](const std::string& parameter, const std::string& name) {
    for (const char* kind : {".weight", ".bias"}) add_tensor(tensors, parameter + kind, stored(name + kind));
  };
  const std::string table = family.embedding + std::string(".weight");
  const bool narrow = family.model_type == "opt" && fields.whole("word_embed_proj_dim", model.d_model) != model.d_model;
  const auto project = [&](const char* name) {
    if (narrow) tensors.back().parts.front().times = stored(name);
  };
  add_tensor(tensors, "embedding.weight", stored(table));
  project("project_in.weight");
  if (!model.tied_embeddings) {
    add_tensor(tensors, "output_weight", narrow ? stored(table) : std::vector{family.output + std::string(".weight")});
    project("project_out.weight");
  }
  if (model.output_bias) add_tensor(tensors, "output_bias", {family.output + std::string(".bias")});
  if (family.positions) {
    add_tensor(tensors, "target_positions", stored(family.positions + std::string(".weight")));
    tensors.back().parts.front().skipped = family.skipped;
  }
  if (family.embedding_norm) linear("embedding_norm", family.embedding_norm);
  const std::int64_t width = model.num_heads * model.head_width(), keys = model.key_heads() * model.head_width();
  const TensorChange turned = model.positions == "rope" ? TensorChange::interleaved : TensorChange::none;
  for (std::int64_t i = 0; i < model.num_decoder_layers; ++i) {
    const std::string layer = fmt::format("decoder.layers.{}.", i), name = fmt::format(fmt::runtime(family.layer), i);
    for (const auto& [own, kind] : {std::pair("weight", ".weight"), std::pair("bias", ".bias")}) {
      TensorRow& row = tensors.emplace_back(TensorRow{layer + "self_attn.in_proj_" + own, {}});
      row.optional = !family.projection_biases && kind == std::string_view(".bias");
      for (std::size_t part = 0; part < 3; ++part) {
        if (!family.projections[part]) break;
        const bool stacked = !family.projections[1];
        row.parts.push_back({stored(name + family.projections[part] + kind),
                             stacked ? 0 : part == 0 ? width : keys,
                             stacked ? TensorChange::by_head : part < 2 ? turned : TensorChange::none});
      }
    }
    linear(layer + "self_attn.out_proj", name + family.out);
    linear(layer + "norm1", name + family.norm1);
    linear(layer + "norm2", name + family.norm2);
    linear(layer + "linear1", name + family.inner);
    linear(layer + "linear2", name + family.outer);
  }
  if (model.final_norm) linear("decoder.norm", family.final_norm);
  return plan;
}

}  // namespace attnscope
