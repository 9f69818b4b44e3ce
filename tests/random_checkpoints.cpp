#include "random_checkpoints.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "files/storage/safetensors.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Shape = std::vector<std::int64_t>;

// SplitMix64, started from a hash (FNV-1a) of a name: every tensor has its own sequence.
class Generator {
 public:
  explicit Generator(std::string_view name) {
    for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }

  std::uint64_t bits(int count) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return (z ^ (z >> 31U)) >> static_cast<unsigned>(64 - count);
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325U;
};

// Significant bits of a number. All weights have at most that many, so that none is ever rounded.
int precision(Dtype dtype) {
  return dtype == Dtype::BF16 ? 8 : dtype == Dtype::F16 ? 11 : 24;
}

void append(std::string& bytes, float value, Dtype dtype) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::uint32_t stored = bits;
  if (dtype == Dtype::BF16) stored = bits >> 16U;
  if (dtype == Dtype::F16) {
    const std::uint32_t sign = (bits >> 16U) & 0x8000U;
    stored = value == 0 ? sign : sign | (((bits & 0x7fffffffU) >> 13U) - ((127U - 15U) << 10U));
  }
  for (std::size_t i = 0; i < size_of(dtype); ++i) bytes += static_cast<char>(stored >> (8 * i));
}

class Weights {
 public:
  Weights(const std::string& checkpoint, Dtype dtype) : prefix_("7/" + checkpoint + "/"), dtype_(dtype) {}

  // Uniform, with about this standard deviation; the same in both signs.
  void random(const std::string& name, const Shape& shape, double deviation) {
    const double width = std::exp2(std::round(std::log2(deviation * std::sqrt(12.0))));
    const int bits = precision(dtype_);
    Generator generator(prefix_ + name);
    add(name, shape,
        [&](std::int64_t) { return (std::ldexp(static_cast<double>(generator.bits(bits)), -bits) - 0.5) * width; });
  }

  // [out, in], as in torch.nn.Linear.
  void linear(const std::string& name, std::int64_t out, std::int64_t in, bool bias) {
    random(name + ".weight", {out, in}, 1.6 / std::sqrt(static_cast<double>(in)));
    if (bias) random(name + ".bias", {out}, 0.3);
  }

  // [in, out], as in GPT-2.
  void conv1d(const std::string& name, std::int64_t in, std::int64_t out) {
    random(name + ".weight", {in, out}, 1.6 / std::sqrt(static_cast<double>(in)));
    random(name + ".bias", {out}, 0.3);
  }

  // Magnitudes from 0.5 to 1.5 in both signs.
  void norm(const std::string& name, std::int64_t width, bool bias) {
    const int bits = precision(dtype_) - 1;
    Generator generator(prefix_ + name + ".weight");
    add(name + ".weight", {width}, [&](std::int64_t) {
      const double magnitude = 0.5 + std::ldexp(static_cast<double>(generator.bits(bits)), -bits);
      return generator.bits(1) == 0 ? magnitude : -magnitude;
    });
    if (bias) random(name + ".bias", {width}, 0.3);
  }

  template <typename Value>
  void add(const std::string& name, const Shape& shape, Value value) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    TensorBytes tensor{.name = name, .dtype = dtype_, .shape = shape, .bytes = {}};
    for (std::int64_t i = 0; i < count; ++i) append(tensor.bytes, static_cast<float>(value(i)), dtype_);
    file_.tensors.push_back(std::move(tensor));
  }

  // Replaces the last `count` elements of the newest tensor.
  void end_with(std::size_t count, float value) {
    std::string& bytes = file_.tensors.back().bytes;
    bytes.resize(bytes.size() - count * size_of(dtype_));
    for (std::size_t i = 0; i < count; ++i) append(bytes, value, dtype_);
  }

  const Safetensors& file() const { return file_; }

 private:
  std::string prefix_;  // with this number, the logits of two best tokens never differ by less than 0.004
  Dtype dtype_;
  Safetensors file_{.metadata = {{"format", "pt"}}, .tensors = {}};
};

Weights marian(const std::string& checkpoint, const Json& config) {
  const std::int64_t d = config.at("d_model"), ff = config.at("encoder_ffn_dim"), v = config.at("vocab_size");
  Weights w(checkpoint, Dtype::F16);
  w.random("model.shared.weight", {v, d}, 0.5);
  w.end_with(static_cast<std::size_t>(d), 0);  // <pad>
  w.random("final_logits_bias", {1, v}, 0.5);
  w.end_with(1, 12);  // without bad_words_ids, <pad> would be output first
  w.add("lm_head.weight", {v, d}, [](std::int64_t) { return 7; });  // ignored, because the embeddings are tied
  for (const std::string side : {"encoder", "decoder"}) {
    for (int i = 0; i < config.at(side + "_layers").get<int>(); ++i) {
      const std::string name = "model." + side + ".layers." + std::to_string(i) + ".";
      for (const std::string attention : {"self_attn", "encoder_attn"}) {
        if (attention == "encoder_attn" && side == "encoder") continue;
        for (const char* part : {"q_proj", "k_proj", "v_proj", "out_proj"})
          w.linear(name + attention + "." + part, d, d, true);
        w.norm(name + attention + "_layer_norm", d, true);
      }
      w.linear(name + "fc1", ff, d, true);
      w.linear(name + "fc2", d, ff, true);
      w.norm(name + "final_layer_norm", d, true);
    }
  }
  return w;
}

Weights llama(const std::string& checkpoint, const Json& config) {
  const std::int64_t d = config.at("hidden_size"), ff = config.at("intermediate_size"), v = config.at("vocab_size");
  const std::int64_t heads = config.at("num_attention_heads"), kv_heads = config.at("num_key_value_heads");
  const std::int64_t width = config.value("head_dim", d / heads);
  const bool biases = config.at("model_type") == "qwen2";  // of queries, keys and values only
  Weights w(checkpoint, Dtype::BF16);
  w.random("model.embed_tokens.weight", {v, d}, 0.7);
  for (int i = 0; i < config.at("num_hidden_layers").get<int>(); ++i) {
    const std::string name = "model.layers." + std::to_string(i) + ".";
    w.linear(name + "self_attn.q_proj", heads * width, d, biases);
    w.linear(name + "self_attn.k_proj", kv_heads * width, d, biases);
    w.linear(name + "self_attn.v_proj", kv_heads * width, d, biases);
    w.linear(name + "self_attn.o_proj", d, heads * width, false);
    w.linear(name + "mlp.gate_proj", ff, d, false);
    w.linear(name + "mlp.up_proj", ff, d, false);
    w.linear(name + "mlp.down_proj", d, ff, false);
    w.norm(name + "input_layernorm", d, false);
    w.norm(name + "post_attention_layernorm", d, false);
  }
  w.norm("model.norm", d, false);
  return w;
}

Weights gpt2(const std::string& checkpoint, const Json& config) {
  const std::int64_t d = config.at("n_embd"), positions = config.at("n_positions"), v = config.at("vocab_size");
  Weights w(checkpoint, Dtype::F32);
  w.random("transformer.wte.weight", {v, d}, 0.6);
  w.random("transformer.wpe.weight", {positions, d}, 0.5);
  for (int i = 0; i < config.at("n_layer").get<int>(); ++i) {
    const std::string name = "transformer.h." + std::to_string(i) + ".";
    // The causal mask of 4 positions, which is ignored: it is not a weight.
    w.add(name + "attn.bias", {1, 1, 4, 4}, [](std::int64_t at) { return at % 4 <= at / 4 ? 1 : 0; });
    w.conv1d(name + "attn.c_attn", d, 3 * d);
    w.conv1d(name + "attn.c_proj", d, d);
    w.conv1d(name + "mlp.c_fc", d, 4 * d);
    w.conv1d(name + "mlp.c_proj", 4 * d, d);
    w.norm(name + "ln_1", d, true);
    w.norm(name + "ln_2", d, true);
  }
  w.norm("transformer.ln_f", d, true);
  return w;
}

Weights t5(const std::string& checkpoint, const Json& config) {
  const std::int64_t d = config.at("d_model"), ff = config.at("d_ff"), v = config.at("vocab_size");
  const std::int64_t heads = config.at("num_heads"), width = config.at("d_kv");
  const std::int64_t buckets = config.at("relative_attention_num_buckets");
  const bool gated = config.contains("feed_forward_proj");
  Weights w(checkpoint, Dtype::F32);
  w.random("shared.weight", {v, d}, 1.0);
  if (gated) w.random("lm_head.weight", {v, d}, 0.6);
  for (const std::string side : {"encoder", "decoder"}) {
    const char* const layers =
        side == "decoder" && config.contains("num_decoder_layers") ? "num_decoder_layers" : "num_layers";
    for (int i = 0; i < config.at(layers).get<int>(); ++i) {
      const std::string block = side + ".block." + std::to_string(i) + ".layer.";
      int number = 0;
      for (const std::string attention : {"SelfAttention", "EncDecAttention"}) {
        if (attention == "EncDecAttention" && side == "encoder") continue;
        const std::string layer = block + std::to_string(number++) + ".";
        for (const char* part : {".q.weight", ".k.weight", ".v.weight"})
          w.random(layer + attention + part, {heads * width, d}, 0.7 / std::sqrt(static_cast<double>(d)));
        w.linear(layer + attention + ".o", d, heads * width, false);
        w.norm(layer + "layer_norm", d, false);
      }
      if (i == 0) w.random(block + "0.SelfAttention.relative_attention_bias.weight", {buckets, heads}, 1.0);
      const std::string layer = block + std::to_string(number) + ".";
      for (const std::string& input : gated ? std::vector<std::string>{"wi_0", "wi_1"} : std::vector<std::string>{"wi"})
        w.linear(layer + "DenseReluDense." + input, ff, d, false);
      w.linear(layer + "DenseReluDense.wo", d, ff, false);
      w.norm(layer + "layer_norm", d, false);
    }
    w.norm(side + ".final_layer_norm", d, false);
  }
  return w;
}

// BERT and its relatives: names, in the order bert, distilbert, albert, of the parts of a layer.
Weights encoder(const std::string& checkpoint, const Json& config) {
  const std::string type = config.at("model_type");
  const bool distilled = type == "distilbert", albert = type == "albert", roberta = type.ends_with("roberta");
  const bool electra = type == "electra";
  const auto name_of = [&](const char* bert, const char* distilbert, const char* of_albert) {
    return distilled ? distilbert : albert ? of_albert : bert;
  };
  const std::int64_t d = config.at(distilled ? "dim" : "hidden_size"), v = config.at("vocab_size");
  const std::int64_t ff = config.at(distilled ? "hidden_dim" : "intermediate_size");
  const std::int64_t e = config.value("embedding_size", d);
  const std::string prefix = roberta ? "roberta." : type + ".";
  Weights w(checkpoint, Dtype::F32);
  w.random(prefix + "embeddings.word_embeddings.weight", {v, e}, 0.5);
  w.random(prefix + "embeddings.position_embeddings.weight", {config.at("max_position_embeddings"), e}, 0.3);
  if (!distilled) w.random(prefix + "embeddings.token_type_embeddings.weight", {config.at("type_vocab_size"), e}, 0.5);
  w.norm(prefix + "embeddings.LayerNorm", e, true);
  w.add(prefix + "embeddings.position_ids", {1, 4}, [](std::int64_t at) { return at; });  // a buffer, which is ignored
  if (e != d) w.linear(prefix + (albert ? "encoder.embedding_hidden_mapping_in" : "embeddings_project"), d, e, true);
  const int layers = config.at(distilled ? "n_layers" : albert ? "num_hidden_groups" : "num_hidden_layers");
  for (int i = 0; i < layers; ++i) {
    const std::string number = std::to_string(i);
    const std::string name = prefix + (distilled ? "transformer.layer." + number + "."
                                       : albert  ? "encoder.albert_layer_groups." + number + ".albert_layers.0."
                                                 : "encoder.layer." + number + ".");
    w.linear(name + name_of("attention.self.query", "attention.q_lin", "attention.query"), d, d, true);
    w.linear(name + name_of("attention.self.key", "attention.k_lin", "attention.key"), d, d, true);
    w.linear(name + name_of("attention.self.value", "attention.v_lin", "attention.value"), d, d, true);
    w.linear(name + name_of("attention.output.dense", "attention.out_lin", "attention.dense"), d, d, true);
    w.norm(name + name_of("attention.output.LayerNorm", "sa_layer_norm", "attention.LayerNorm"), d, true);
    w.linear(name + name_of("intermediate.dense", "ffn.lin1", "ffn"), ff, d, true);
    w.linear(name + name_of("output.dense", "ffn.lin2", "ffn_output"), d, ff, true);
    w.norm(name + name_of("output.LayerNorm", "output_layer_norm", "full_layer_layer_norm"), d, true);
  }
  if (electra) {
    w.linear("discriminator_predictions.dense", d, d, true);
    w.linear("discriminator_predictions.dense_prediction", 1, d, true);
    return w;
  }
  const std::string head = roberta ? "lm_head." : name_of("cls.predictions.transform.", "vocab_", "predictions.");
  w.linear(head + (distilled ? "transform" : "dense"), e, d, true);
  w.norm(head + (roberta ? "layer_norm" : distilled ? "layer_norm" : "LayerNorm"), e, true);
  w.random(roberta ? "lm_head.bias" : name_of("cls.predictions.bias", "vocab_projector.bias", "predictions.bias"), {v},
           0.3);
  return w;
}

// Families whose folder lists the names and shapes of their tensors.
Weights listed(const std::string& checkpoint, const Json& shapes) {
  const auto has = [](const std::string& name, std::initializer_list<const char*> parts) {
    return std::ranges::any_of(parts, [&](const char* part) { return name.find(part) != std::string::npos; });
  };
  Weights w(checkpoint, Dtype::F32);
  for (const auto& [name, shape] : shapes.items()) {
    const bool table = has(name, {"embed", "shared", "wte", "wpe", "lm_head"});
    if (has(name, {"norm", "ln_"}) && name.ends_with(".weight"))
      w.norm(name.substr(0, name.size() - std::string_view(".weight").size()), shape[0], false);
    else
      w.random(name, shape, shape.size() < 2 ? 0.3 : table ? 0.6 : 1.6 / std::sqrt(shape[1].get<double>()));
  }
  return w;
}

Weights weights_of(const std::string& checkpoint, const fs::path& folder, const Json& config) {
  const std::string family = config.at("model_type");
  if (std::ifstream shapes(folder / "tensors.json"); shapes) return listed(checkpoint, Json::parse(shapes));
  if (family == "marian") return marian(checkpoint, config);
  if (family == "llama" || family == "qwen2") return llama(checkpoint, config);
  if (family == "gpt2") return gpt2(checkpoint, config);
  if (family == "t5") return t5(checkpoint, config);
  if (family.ends_with("bert") || family.ends_with("roberta") || family == "electra")
    return encoder(checkpoint, config);
  throw std::invalid_argument("no random checkpoint of the family " + family);
}

// Alternates between two files, and writes the index that names the file of every tensor.
void write_in_two_files(const Safetensors& all, const fs::path& folder) {
  Json index = {{"metadata", Json::object()}, {"weight_map", Json::object()}};
  for (std::size_t part = 0; part < 2; ++part) {
    const std::string name = "model-0000" + std::to_string(part + 1) + "-of-00002.safetensors";
    Safetensors half{.metadata = all.metadata, .tensors = {}};
    for (std::size_t i = part; i < all.tensors.size(); i += 2) {
      half.tensors.push_back(all.tensors[i]);
      index["weight_map"][all.tensors[i].name] = name;
    }
    write_safetensors(folder / name, half);
  }
  std::ofstream(folder / "model.safetensors.index.json") << index << '\n';
}

class TemporaryFolder {
 public:
  TemporaryFolder() { fs::create_directories(path); }
  ~TemporaryFolder() { fs::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path path = fs::temp_directory_path() / ("attnscope-random-checkpoints-" + std::to_string(::getpid()));
};

// Files of a tokenizer that a checkpoint has in common with another one.
struct SharedFile {
  std::string_view name, file, from;
};
constexpr std::array shared_files = {
    SharedFile{"m2m_100", "sentencepiece.bpe.model", "marian/source.spm"},
    SharedFile{"gpt_neo", "vocab.json", "gpt2/vocab.json"},
    SharedFile{"gpt_neo", "merges.txt", "gpt2/merges.txt"},
    SharedFile{"opt", "merges.txt", "gpt2/merges.txt"},
    SharedFile{"gemma3", "tokenizer.json", "gemma2/tokenizer.json"},
};

}  // namespace

void write_random_checkpoint(const std::string& name, const fs::path& folder) {
  const fs::path data = fs::path(ATTNSCOPE_TEST_DATA) / "checkpoints";
  fs::copy(data / name, folder);
  for (const SharedFile& shared : shared_files)
    if (shared.name == name) fs::copy(data / shared.from, folder / shared.file);
  std::ifstream config(folder / "config.json");
  const Weights weights = weights_of(name, folder, Json::parse(config));
  if (name == "llama")
    write_in_two_files(weights.file(), folder);
  else
    write_safetensors(folder / "model.safetensors", weights.file());
}

fs::path random_checkpoint(const std::string& name) {
  static const TemporaryFolder all;
  const fs::path folder = all.path / name;
  if (!fs::exists(folder)) write_random_checkpoint(name, folder);
  return folder;
}

}  // namespace attnscope
