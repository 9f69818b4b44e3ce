// Checkpoints with something wrong: each is refused with a message that names it, and nothing ends over any.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint_copy.h"
#include "engine/torch_engine.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::HasSubstr;

// One family: its names of fields and tensors, its tokenizer's files, and its own errors.
struct Family {
  const char* name;
  const char *width, *layers, *heads, *end;  // fields
  const char* embedding;                     // a tensor
  const char* matrix;                        // a tensor that is not square
  std::vector<const char*> tokenizer;        // files that are needed
};

struct Case {
  std::string what;
  std::function<void(CheckpointCopy&)> spoil;
  std::string says;  // a part of the message
};

TensorBytes& tensor_named(Safetensors& all, const std::string& name) {
  const auto found = std::ranges::find(all.tensors, name, &TensorBytes::name);
  if (found == all.tensors.end()) throw std::runtime_error("the test names no tensor: " + name);
  return *found;
}

Case with_tensor(std::string what, const std::string& name, const std::function<void(TensorBytes&)>& spoil,
                 std::string says) {
  return {std::move(what),
          [=](CheckpointCopy& copy) {
            Safetensors all = copy.tensors();
            spoil(tensor_named(all, name));
            copy.put(all);
          },
          std::move(says)};
}

// The last element becomes one with all bits of its exponent: infinite, or with `mantissa` no number.
void make_infinite(TensorBytes& tensor, bool is_nan) {
  const std::size_t size = size_of(tensor.dtype);
  const std::string value = tensor.dtype == Dtype::F32    ? std::string{0, 0, char(is_nan ? 0xC0 : 0x80), 0x7F}
                            : tensor.dtype == Dtype::BF16 ? std::string{char(is_nan ? 0xC0 : 0x80), 0x7F}
                                                          : std::string{0, char(is_nan ? 0x7E : 0x7C)};
  tensor.bytes.replace(tensor.bytes.size() - size, size, value);
}

Case with_field(const char* field, const Json& value, std::string says) {
  return {std::string(field) + " = " + value.dump(), [=](CheckpointCopy& copy) { copy.set(field, value); },
          std::move(says)};
}
Case with_text(std::string name, const std::string& bytes, std::string says) {
  return {name + " = " + bytes.substr(0, 40), [=](CheckpointCopy& copy) { copy.write(name, bytes); }, std::move(says)};
}

void add_fields(const Family& family, std::vector<Case>& cases) {
  const auto add = [&](Case it) { cases.push_back(std::move(it)); };
  add(with_text("config.json", "", "config.json"));
  add(with_text("config.json", "[1]", "config.json: not a JSON object"));
  add(with_text("config.json", "{\"model_type\": ", "config.json"));
  add(with_text("config.json", std::string(100000, '['), "config.json"));
  add(with_field("model_type", "whisper", "\"model_type\" is \"whisper\", supported: marian"));
  add(with_field("model_type", Json::array(), "\"model_type\" is [], not a text"));
  add({"no model_type", [](CheckpointCopy& copy) { copy.drop("model_type"); }, "there is no \"model_type\""});
  for (const char* field : {family.width, family.layers, family.heads, "vocab_size"}) {
    const std::string named = '"' + std::string(field) + '"';
    add({"no " + named, [=](CheckpointCopy& copy) { copy.drop(field); }, "there is no " + named});
    add(with_field(field, "many", named + " is \"many\", not a whole number"));
    add(with_field(field, -1, named + " is -1, not a whole number"));
    add(with_field(field, 1.5, named + " is 1.5"));
    add(with_field(field, 999999999, std::string(field) == "vocab_size" ? "\"vocab_size\" is 999999999" : "999999999"));
    add(with_field(field, 0, "0"));
  }
  add({"a piece too many",
       [](CheckpointCopy& copy) { copy.set("vocab_size", copy.json("config.json").at("vocab_size").get<int>() + 1); },
       "has shape"});
  add({"a layer too many",
       [=](CheckpointCopy& copy) {
         copy.set(family.layers, copy.json("config.json").at(family.layers).get<int>() + 1);
       },
       family.name == std::string("gpt_neo") ? "\"attention_types\" is" : "is missing"});
  add({"an end beyond the vocabulary",
       [=](CheckpointCopy& copy) {
         copy.remove("generation_config.json");
         copy.set(family.end, 99999);
       },
       "token 99999 lies outside the vocabulary"});
  add(with_text("generation_config.json", "{", "generation_config.json"));
  if (family.end == std::string("eos_token_id"))
    add(with_text("generation_config.json", R"({"eos_token_id": []})", "\"eos_token_id\" is []"));
  if (family.name == std::string("marian"))
    add(with_text("generation_config.json", R"({"bad_words_ids": 7})", "\"bad_words_ids\" is 7"));
}

void add_tensors(const Family& family, std::vector<Case>& cases) {
  const auto add = [&](Case it) { cases.push_back(std::move(it)); };
  for (const std::string name : {family.embedding, family.matrix}) {
    const std::string of = "tensor " + name;
    add({name + " missing",
         [=](CheckpointCopy& copy) {
           Safetensors all = copy.tensors();
           std::erase_if(all.tensors, [&](const TensorBytes& tensor) { return tensor.name == name; });
           copy.put(all);
         },
         name});
    add(with_tensor(
        name + " turned", name, [](TensorBytes& it) { std::swap(it.shape[0], it.shape[1]); }, of + " has shape"));
    add(with_tensor(
        name + " flat", name, [](TensorBytes& it) { it.shape = {it.shape[0] * it.shape[1]}; }, of + " has shape"));
    add(with_tensor(
        name + " in a box", name,
        [](TensorBytes& it) {
          it.shape = {2, 1, it.shape[0] * it.shape[1] / 2};
        },
        of + " has shape"));
    add(with_tensor(
        name + " empty", name,
        [](TensorBytes& it) {
          it.shape = {0};
          it.bytes.clear();
        },
        of + " has shape [0]"));
    add(with_tensor(
        name + " whole numbers", name,
        [](TensorBytes& it) { it.dtype = size_of(it.dtype) == 4 ? Dtype::I32 : Dtype::I16; }, of + " contains I"));
    add(with_tensor(
        name + " NaN", name, [](TensorBytes& it) { make_infinite(it, true); },
        of + " contains a value that is not finite"));
    add(with_tensor(
        name + " infinite", name, [](TensorBytes& it) { make_infinite(it, false); },
        of + " contains a value that is not finite"));
  }
}

void add_files(std::vector<Case>& cases) {
  const auto spoil_bytes = [&](std::string what, const std::function<std::string(std::string)>& change,
                               std::string says) {
    cases.push_back({std::move(what),
                     [=](CheckpointCopy& copy) {
                       copy.put(copy.tensors());
                       copy.write("model.safetensors", change(copy.text("model.safetensors")));
                     },
                     std::move(says)});
  };
  spoil_bytes(
      "cut short", [](std::string bytes) { return bytes.substr(0, bytes.size() - 1); }, "model.safetensors");
  spoil_bytes(
      "longer", [](std::string bytes) { return bytes + "x"; }, "model.safetensors");
  spoil_bytes(
      "empty", [](std::string) { return std::string(); }, "model.safetensors: too short for a header");
  spoil_bytes(
      "a header of all there is", [](std::string bytes) { return std::string(8, '\xFF') + bytes.substr(8); },
      "model.safetensors: a header of");
  spoil_bytes(
      "a header that is no JSON", [](std::string bytes) { return bytes.replace(8, 4, "]]]]"); }, "model.safetensors");
  spoil_bytes(
      "a pickle", [](std::string) { return std::string("\x80\x02}q\x00.", 6); }, "model.safetensors");
  cases.push_back({"no weights",
                   [](CheckpointCopy& copy) {
                     copy.put({});
                     copy.remove("model.safetensors");
                     copy.write("pytorch_model.bin", "PK");
                   },
                   "pytorch_model.bin is a pickle"});
  const auto spoil_index = [&](std::string what, const std::function<void(CheckpointCopy&, Json&)>& change,
                               std::string says) {
    cases.push_back({std::move(what),
                     [=](CheckpointCopy& copy) {
                       copy.shard();
                       Json index = copy.json("model.safetensors.index.json");
                       change(copy, index);
                       copy.write("model.safetensors.index.json", index.dump());
                     },
                     std::move(says)});
  };
  spoil_index(
      "a shard that is not there", [](CheckpointCopy& copy, Json&) { copy.remove("two.safetensors"); },
      "two.safetensors");
  spoil_index(
      "a shard elsewhere", [](CheckpointCopy&, Json& index) { index["weight_map"]["a"] = "../a.safetensors"; },
      "\"a\" is in \"../a.safetensors\", which is not a file of this folder");
  spoil_index(
      "a shard that is a number", [](CheckpointCopy&, Json& index) { index["weight_map"]["a"] = 3; },
      "\"a\" is in 3, which is not a file of this folder");
  spoil_index(
      "no weight_map", [](CheckpointCopy&, Json& index) { index.erase("weight_map"); }, "there is no \"weight_map\"");
  spoil_index(
      "an index that is a list", [](CheckpointCopy&, Json& index) { index = Json::array(); },
      "model.safetensors.index.json: not a JSON object");
  spoil_index(
      "a tensor twice",
      [](CheckpointCopy& copy, Json&) {
        fs::copy_file(copy.folder / "one.safetensors", copy.folder / "two.safetensors",
                      fs::copy_options::overwrite_existing);
      },
      "also appears in another file");
}

void add_tokenizer(const Family& family, std::vector<Case>& cases) {
  for (const std::string name : family.tokenizer) {
    // A Llama or relative without either is one that lacks SentencePiece's.
    const bool lacks = name == "tokenizer.json" && family.embedding == std::string("model.embed_tokens.weight") &&
                       family.name != std::string("phi");
    cases.push_back({"no " + name, [=](CheckpointCopy& copy) { copy.remove(name); },
                     lacks ? "tokenizer.model" : name});
    cases.push_back(with_text(name, std::string("\x0a\xff\xff\xff\xff\x0f", 6), ""));
    if (name == "merges.txt" || name == "vocab.txt") continue;  // which may end anywhere
    cases.push_back({name + " cut short", [=](CheckpointCopy& copy) { copy.shorten(name, 5); }, ""});
    cases.push_back(with_text(name, "", ""));
  }
  cases.push_back(with_text("tokenizer_config.json", "{", "tokenizer_config.json"));
  cases.push_back(with_text("tokenizer_config.json", "[]", "tokenizer_config.json: not a JSON object"));
}

// Values that these families do not have, or that do not fit together.
std::vector<Case> own_fields(const std::string& family) {
  struct Field {
    const char *family, *field;
    Json value;
    const char* says;
  };
  static const std::vector<Field> fields = {
      {"gpt_neox", "rotary_pct", 0, "\"rotary_pct\" is 0, supported: a number above 0, at most 1"},
      {"gpt_neox", "rotary_pct", 0.2, "model.rotary_width is 3, allowed: even numbers up to the width of a head, 16"},
      {"gpt_neox", "attention_bias", false, "\"attention_bias\" is false, supported: true"},
      {"gpt_neox", "use_parallel_residual", 1, "\"use_parallel_residual\" is 1, not true or false"},
      {"gpt_neox", "hidden_act", "tanh", "\"hidden_act\" is \"tanh\", supported: gelu_new"},
      {"gpt_neo", "attention_types", "local", "\"attention_types\" is \"local\", not a list"},
      {"gpt_neo", "attention_types", {{{"global", "far"}, 2}}, "supported: global, local"},
      {"gpt_neo", "attention_types", {{{"global", "local"}, 9}}, "supported: kinds of 4 layers"},
      {"gpt_neo", "window_size", -1, "\"window_size\" is -1, not a whole number"},
      {"phi", "qk_layernorm", true, "\"qk_layernorm\" is true, supported: false"},
      {"phi", "partial_rotary_factor", 2, "\"partial_rotary_factor\" is 2, supported: a number above 0"},
      {"phi", "rope_scaling", {{"type", "longrope"}, {"factor", 2}}, "default, linear, dynamic, llama3, yarn"},
      {"opt", "enable_bias", false, "\"enable_bias\" is false, supported: true"},
      {"opt", "layer_norm_elementwise_affine", false, "\"layer_norm_elementwise_affine\" is false"},
      {"opt", "word_embed_proj_dim", 32, "decoder.embed_tokens.weight has shape"},
      {"bloom", "apply_residual_connection_post_layernorm", true, "supported: false"},
      {"bloom", "layer_norm_epsilon", "small", "\"layer_norm_epsilon\" is \"small\", not a number"},
      {"qwen3",
       "layer_types",
       {"full_attention"},
       "\"layer_types\" is [\"full_attention\"], supported: one for each of 2"},
      {"qwen3", "head_dim", 9, "an even width"},
      {"mistral", "sliding_window", "wide", "\"sliding_window\" is \"wide\", not a whole number"},
      {"mistral", "sliding_window", 100000, "\"sliding_window\" is 100000"},
      {"gemma2", "hidden_activation", "relu", "\"hidden_activation\" is \"relu\", supported: silu"},
      {"gemma2", "attn_logit_softcapping", "high", "\"attn_logit_softcapping\" is \"high\", not a number"},
      {"gemma2", "final_logit_softcapping", -3, "model.logit_cap is -3"},
      {"gemma3", "sliding_window_pattern", 0, "\"sliding_window_pattern\" is 0, supported: 1 or more"},
      {"gemma3", "rope_local_base_freq", "low", "\"rope_local_base_freq\" is \"low\", not a number"},
      {"bart", "normalize_before", true, "\"normalize_before\" is true, supported: false"},
      {"bart", "normalize_embedding", false, "\"normalize_embedding\" is false, supported: true"},
      {"bart", "decoder_attention_heads", 5, "model.num_decoder_heads is 5, allowed: divisors of \"d_model\", 32"},
      {"bart", "decoder_ffn_dim", 81, "has shape"},
      {"bart", "forced_bos_token_id", 5000, "token 5000 lies outside the vocabulary"},
      {"bart", "tie_word_embeddings", false, "tensor lm_head.weight is missing"},
      {"mbart", "add_final_layer_norm", false, "\"add_final_layer_norm\" is false, supported: true"},
      {"mbart", "max_position_embeddings", 100, "embed_positions.weight has shape"},
      {"m2m_100", "scale_embedding", "yes", "\"scale_embedding\" is \"yes\""},
      {"m2m_100", "activation_function", "mish", "\"activation_function\" is \"mish\""},
      {"pegasus", "static_position_embeddings", false, "\"static_position_embeddings\" is false, supported: true"},
      {"pegasus", "normalize_before", false, "\"normalize_before\" is false, supported: true"}};
  std::vector<Case> cases;
  for (const Field& it : fields)
    if (it.family == family) cases.push_back(with_field(it.field, it.value, it.says));
  return cases;
}

std::vector<Case> peculiar(const std::string& family) {
  if (std::vector<Case> cases = own_fields(family); !cases.empty()) return cases;
  if (family == "marian") {
    return {with_text("tokenizer_config.json", R"({"separate_vocabs": true})", "separate_vocabs is true"),
            with_text("tokenizer_config.json", R"({"separate_vocabs": 1})", "\"separate_vocabs\" is 1"),
            with_text("vocab.json", R"({"</s>": 0, "<unk>": 1, "<pad>": -2})", "\"<pad>\" has the id -2"),
            with_field("share_encoder_decoder_embeddings", false, "\"share_encoder_decoder_embeddings\" is false"),
            with_field("normalize_before", true, "\"normalize_before\" is true"),
            with_field("activation_function", "mish", "\"activation_function\" is \"mish\""),
            with_field("scale_embedding", "yes", "\"scale_embedding\" is \"yes\""),
            with_field("decoder_ffn_dim", 25, "has shape")};
  }
  if (family == "t5") {
    return {with_text("tokenizer_config.json", R"({"extra_ids": -1})", "\"extra_ids\" is -1"),
            with_text("tokenizer_config.json", R"({"extra_ids": 900})", "900 extra tokens"),
            with_field("feed_forward_proj", "gated-relu", "\"feed_forward_proj\" is \"gated-relu\""),
            with_field("relative_attention_num_buckets", 16, "\"relative_attention_num_buckets\" is 16"),
            with_field("relative_attention_max_distance", 64, "\"relative_attention_max_distance\" is 64"),
            with_field("d_kv", 9, "has shape"),
            with_field("tie_word_embeddings", false, "tensor lm_head.weight")};
  }
  if (family == "gpt2") {
    return {with_field("add_cross_attention", true, "\"add_cross_attention\" is true"),
            with_field("scale_attn_by_inverse_layer_idx", true, "\"scale_attn_by_inverse_layer_idx\" is true"),
            with_field("activation_function", "tanh", "\"activation_function\" is \"tanh\""),
            with_field("n_inner", 40, "has shape"),
            with_field("n_positions", 64, "tensor transformer.wpe.weight"),
            with_text("merges.txt", "x y z\n", "merge 1: \"x y z\" gives no token"),
            with_text("vocab.json", R"({"a": 0})", "vocab.json: there is no"),
            with_text("tokenizer_config.json", R"({"add_prefix_space": "no"})", "\"add_prefix_space\" is \"no\"")};
  }
  if (family == "bert" || family == "electra") {
    return {with_field("position_embedding_type", "relative_key", "\"position_embedding_type\" is \"relative_key\""),
            with_field("is_decoder", true, "\"is_decoder\" is true, supported: false"),
            with_field("hidden_act", "tanh", "\"hidden_act\" is \"tanh\", supported: gelu"),
            with_field("architectures", "BertModel", "\"architectures\" is \"BertModel\", not a list of texts"),
            with_field("architectures", {3}, "\"architectures\" is [3], not a list of texts"),
            with_field("type_vocab_size", 3, "token_type_embeddings.weight has shape"),
            with_field("max_position_embeddings", 100, "position_embeddings.weight has shape"),
            with_field("intermediate_size", nullptr, "there is no \"intermediate_size\""),
            with_field("layer_norm_eps", "small", "\"layer_norm_eps\" is \"small\", not a number"),
            with_text("vocab.txt", "[CLS]\n[UNK]\n", "there is no \"[SEP]\""),
            with_text("vocab.txt", std::string(100000, '\n'), "there is no \"[CLS]\""),
            with_text("tokenizer_config.json", R"({"do_lower_case": "yes"})", "\"do_lower_case\" is \"yes\""),
            with_text("tokenizer_config.json", R"({"mask_token": 5})", "\"mask_token\" is 5, expected a string")};
  }
  if (family == "albert" || family == "xlm-roberta") {
    std::vector<Case> cases = {with_field("hidden_act", "tanh", "\"hidden_act\" is \"tanh\""),
                               with_field("max_position_embeddings", 100, "position_embeddings.weight has shape")};
    const auto spoil = [&](const char* part, const Json& value, std::string says) {
      cases.push_back({std::string("tokenizer.json ") + part,
                       [=](CheckpointCopy& copy) {
                         Json file = copy.json("tokenizer.json");
                         file[Json::json_pointer(part)] = value;
                         copy.write("tokenizer.json", file.dump());
                       },
                       std::move(says)});
    };
    spoil("/pre_tokenizer", {{"type", "Whitespace"}}, "tokenizer.json: \"pre_tokenizer\" is");
    spoil("/normalizer", {{"type", "Nmt"}}, "tokenizer.json: \"normalizer\" is");
    spoil("/normalizer", {{"type", "Precompiled"}}, "tokenizer.json: \"normalizer\" is");
    spoil("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "AAAA"}},
          "precompiled_charsmap is damaged");
    spoil("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "?"}},
          "precompiled_charsmap is not base64");
    spoil("/model/type", "BPE", "tokenizer.json: \"model.merges\" is null");
    spoil("/model/type", "WordLevel", "tokenizer.json: \"model.type\" is \"WordLevel\", supported: BPE");
    spoil("/model/unk_id", 100000, "\"model.unk_id\" is 100000");
    spoil("/decoder", {{"type", "CTC"}}, "tokenizer.json: \"decoder\" is");
    spoil("/model/vocab", Json::object(), "tokenizer.json: there is no vocabulary");
    spoil("/model/vocab/7", "a", "\"model.vocab\" is \"a\"");
    spoil("/model/vocab/8", {"<unk>", -1}, "\"model.vocab\" is");
    spoil("/added_tokens/0", "<s>", "\"added_tokens\" is \"<s>\"");
    spoil("/added_tokens/0/id", 100000, "has the id 100000");
    return cases;
  }
  std::vector<Case> cases = {
      with_field("rope_scaling", {{"rope_type", "llama3"}, {"factor", 8}}, "\"rope_scaling\" is"),
      with_field("rope_scaling", {{"type", "longrope"}, {"factor", 2}}, "\"rope_scaling\" is"),
      with_field("rope_parameters", {{"rope_type", "yarn"}}, "\"rope_parameters\" is"),
      with_field("rope_scaling", "far", "\"rope_scaling\" is \"far\""),
      with_field("num_key_value_heads", 3, family == "llama" ? "\"num_key_value_heads\" is 3" : "has shape"),
      with_field("hidden_act", "relu", "\"hidden_act\" is \"relu\""),
      with_field("head_dim", 7, "an even width"),
      with_field("attention_bias", true, "self_attn.q_proj.bias is missing"),
      with_field("intermediate_size", nullptr, "there is no \"intermediate_size\"")};
  if (family == "llama") {
    cases.push_back(with_text("tokenizer_config.json", R"({"add_eos_token": true})", "add_eos_token is true"));
    return cases;
  }
  const auto spoil = [&](const char* part, const Json& value, std::string says) {
    cases.push_back({std::string("tokenizer.json ") + part,
                     [=](CheckpointCopy& copy) {
                       Json file = copy.json("tokenizer.json");
                       file[Json::json_pointer(part)] = value;
                       copy.write("tokenizer.json", file.dump());
                     },
                     std::move(says)});
  };
  spoil("/pre_tokenizer", {{"type", "Whitespace"}}, "tokenizer.json: \"pre_tokenizer\" is");
  spoil("/pre_tokenizer/pretokenizers/0", {{"type", "Split"}, {"pattern", {{"Regex", "("}}}, {"behavior", "Isolated"}},
        "tokenizer.json: \"pre_tokenizer\" is");
  spoil("/pre_tokenizer/pretokenizers", 3, "tokenizer.json: \"pre_tokenizer\" is");
  spoil("/normalizer", {{"type", "Nmt"}}, "tokenizer.json: \"normalizer\" is");
  spoil("/post_processor", {{"type", "TemplateProcessing"}}, "tokenizer.json: \"post_processor\" is");
  spoil("/model/type", "Unigram", "tokenizer.json: \"model.vocab\" is");
  spoil("/model/end_of_word_suffix", "</w>", "tokenizer.json: \"model.end_of_word_suffix\" is \"</w>\"");
  spoil("/model/vocab", Json::array(), "tokenizer.json: there is no vocabulary");
  spoil("/model/vocab/!", 100000, "tokenizer.json: \"!\" has the id 100000");
  spoil("/model/merges/0", 7, "tokenizer.json: \"model.merges\" is 7");
  spoil("/model/merges", nullptr, "tokenizer.json: \"model.merges\" is null");
  spoil("/added_tokens/0", "<s>", "tokenizer.json: \"added_tokens\" is \"<s>\"");
  spoil("/added_tokens", "<s>", "tokenizer.json: \"added_tokens\" is \"<s>\"");
  cases.push_back(with_text("tokenizer_config.json", R"({"eos_token": 5})", "\"eos_token\" is 5"));
  cases.push_back(with_text("tokenizer_config.json", R"({"eos_token": "<end>"})", "there is no \"<end>\""));
  cases.push_back(with_text("tokenizer_config.json", "{}", "the tokenizer ends a text with token"));
  return cases;
}

class HostileCheckpoint : public testing::TestWithParam<Family> {};

TEST_P(HostileCheckpoint, IsRefusedWithWhatIsWrong) {
  const Family& family = GetParam();
  std::vector<Case> cases = peculiar(family.name);
  add_fields(family, cases);
  add_tensors(family, cases);
  add_files(cases);
  add_tokenizer(family, cases);
  CheckpointCopy copy(family.name);
  EXPECT_EQ(opening_complaint(copy.folder), "") << "as it is";
  for (const Case& it : cases) {
    SCOPED_TRACE(std::string(family.name) + ": " + it.what);
    copy.copy(family.name);
    it.spoil(copy);
    const std::string said = opening_complaint(copy.folder);
    EXPECT_NE(said, "");
    EXPECT_THAT(said, HasSubstr(it.says));
  }
  EXPECT_GE(cases.size(), 40U);
}

INSTANTIATE_TEST_SUITE_P(Families, HostileCheckpoint,
                         testing::Values(Family{"marian",
                                                "d_model",
                                                "encoder_layers",
                                                "encoder_attention_heads",
                                                "eos_token_id",
                                                "model.shared.weight",
                                                "model.encoder.layers.0.fc1.weight",
                                                {"source.spm", "target.spm", "vocab.json"}},
                                         Family{"t5",
                                                "d_model",
                                                "num_layers",
                                                "num_heads",
                                                "eos_token_id",
                                                "shared.weight",
                                                "decoder.block.1.layer.2.DenseReluDense.wi.weight",
                                                {"spiece.model"}},
                                         Family{"gpt2",
                                                "n_embd",
                                                "n_layer",
                                                "n_head",
                                                "eos_token_id",
                                                "transformer.wte.weight",
                                                "transformer.h.1.mlp.c_fc.weight",
                                                {"vocab.json", "merges.txt"}},
                                         Family{"llama",
                                                "hidden_size",
                                                "num_hidden_layers",
                                                "num_attention_heads",
                                                "eos_token_id",
                                                "model.embed_tokens.weight",
                                                "model.layers.1.mlp.gate_proj.weight",
                                                {"tokenizer.model"}},
                                         Family{"smollm",
                                                "hidden_size",
                                                "num_hidden_layers",
                                                "num_attention_heads",
                                                "eos_token_id",
                                                "model.embed_tokens.weight",
                                                "model.layers.0.mlp.down_proj.weight",
                                                {"tokenizer.json"}},
                                         Family{"bert",
                                                "hidden_size",
                                                "num_hidden_layers",
                                                "num_attention_heads",
                                                "pad_token_id",
                                                "bert.embeddings.word_embeddings.weight",
                                                "bert.encoder.layer.1.output.dense.weight",
                                                {"vocab.txt"}},
                                         Family{"electra",
                                                "hidden_size",
                                                "num_hidden_layers",
                                                "num_attention_heads",
                                                "pad_token_id",
                                                "electra.embeddings.word_embeddings.weight",
                                                "electra.embeddings_project.weight",
                                                {"vocab.txt"}},
                                         Family{"xlm-roberta",
                                                "hidden_size",
                                                "num_hidden_layers",
                                                "num_attention_heads",
                                                "pad_token_id",
                                                "roberta.embeddings.word_embeddings.weight",
                                                "roberta.encoder.layer.0.intermediate.dense.weight",
                                                {"tokenizer.json"}},
                                         Family{"albert",
                                                "hidden_size",
                                                "num_hidden_groups",
                                                "num_attention_heads",
                                                "pad_token_id",
                                                "albert.embeddings.word_embeddings.weight",
                                                "albert.encoder.embedding_hidden_mapping_in.weight",
                                                {"tokenizer.json"}},
                                         Family{"gpt_neox",
                                                "hidden_size",
                                                "num_hidden_layers",
                                                "num_attention_heads",
                                                "eos_token_id",
                                                "gpt_neox.embed_in.weight",
                                                "gpt_neox.layers.0.mlp.dense_h_to_4h.weight",
                                                {"tokenizer.json"}},
                                         Family{"gpt_neo",
                                                "hidden_size",
                                                "num_layers",
                                                "num_heads",
                                                "eos_token_id",
                                                "transformer.wte.weight",
                                                "transformer.h.1.mlp.c_fc.weight",
                                                {"vocab.json", "merges.txt"}},
                                         Family{"phi",
                                                "hidden_size",
                                                "num_hidden_layers",
                                                "num_attention_heads",
                                                "eos_token_id",
                                                "model.embed_tokens.weight",
                                                "model.layers.0.mlp.fc1.weight",
                                                {"tokenizer.json"}},
                                         Family{"opt",
                                                "hidden_size",
                                                "num_hidden_layers",
                                                "num_attention_heads",
                                                "eos_token_id",
                                                "decoder.embed_tokens.weight",
                                                "decoder.layers.0.fc1.weight",
                                                {"vocab.json", "merges.txt"}},
                                         Family{"bloom",
                                                "n_embed",
                                                "n_layer",
                                                "num_attention_heads",
                                                "eos_token_id",
                                                "word_embeddings.weight",
                                                "h.0.mlp.dense_h_to_4h.weight",
                                                {"tokenizer.json"}},
                                         Family{"qwen3",
                                                "hidden_size",
                                                "num_hidden_layers",
                                                "num_attention_heads",
                                                "eos_token_id",
                                                "model.embed_tokens.weight",
                                                "model.layers.0.mlp.gate_proj.weight",
                                                {"tokenizer.json"}},
                                         Family{"mistral",
                                                "hidden_size",
                                                "num_hidden_layers",
                                                "num_attention_heads",
                                                "eos_token_id",
                                                "model.embed_tokens.weight",
                                                "model.layers.0.mlp.gate_proj.weight",
                                                {"tokenizer.json"}},
                                         Family{"gemma2",
                                                "hidden_size",
                                                "num_hidden_layers",
                                                "num_attention_heads",
                                                "eos_token_id",
                                                "model.embed_tokens.weight",
                                                "model.layers.0.mlp.gate_proj.weight",
                                                {"tokenizer.json"}},
                                         Family{"gemma3",
                                                "hidden_size",
                                                "num_hidden_layers",
                                                "num_attention_heads",
                                                "eos_token_id",
                                                "model.embed_tokens.weight",
                                                "model.layers.0.mlp.gate_proj.weight",
                                                {"tokenizer.json"}},
                                         Family{"bart",
                                                "d_model",
                                                "encoder_layers",
                                                "encoder_attention_heads",
                                                "eos_token_id",
                                                "model.shared.weight",
                                                "model.encoder.layers.0.fc1.weight",
                                                {"tokenizer.json"}},
                                         Family{"mbart",
                                                "d_model",
                                                "encoder_layers",
                                                "encoder_attention_heads",
                                                "eos_token_id",
                                                "model.shared.weight",
                                                "model.encoder.layers.0.fc1.weight",
                                                {"tokenizer.json"}},
                                         Family{"m2m_100",
                                                "d_model",
                                                "encoder_layers",
                                                "encoder_attention_heads",
                                                "eos_token_id",
                                                "model.shared.weight",
                                                "model.encoder.layers.0.fc1.weight",
                                                {"vocab.json", "sentencepiece.bpe.model"}},
                                         Family{"pegasus",
                                                "d_model",
                                                "encoder_layers",
                                                "encoder_attention_heads",
                                                "eos_token_id",
                                                "model.shared.weight",
                                                "model.encoder.layers.0.fc1.weight",
                                                {"tokenizer.json"}}),
                         [](const auto& one) {
                           std::string name = one.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace attnscope
