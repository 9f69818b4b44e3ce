#include "files/checkpoints/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "common/json_text.h"
#include "common/other_formats.h"
#include "config/fine_tuning.h"
#include "files/checkpoints/families.h"
#include "files/checkpoints/trainings.h"
#include "files/storage/file.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint64_t largest_config = 1U << 20U;
constexpr std::uint64_t largest_index = 64U << 20U;
constexpr const char* config_name = "config.json";
constexpr const char* weights_name = "model.safetensors";
constexpr const char* index_name = "model.safetensors.index.json";

struct Family {
  std::string_view model_type;
  CheckpointPlan (*plan)(const CheckpointFields& fields);
};

constexpr std::array families = {Family{"marian", marian_plan},
                                 Family{"t5", t5_plan},
                                 Family{"mt5", t5_plan},
                                 Family{"gpt2", gpt2_plan},
                                 Family{"llama", llama_plan},
                                 Family{"mistral", llama_plan},
                                 Family{"qwen2", llama_plan},
                                 Family{"qwen3", llama_plan},
                                 Family{"gemma", llama_plan},
                                 Family{"gemma2", llama_plan},
                                 Family{"gemma3_text", llama_plan},
                                 Family{"gpt_neox", decoder_plan},
                                 Family{"gpt_neo", decoder_plan},
                                 Family{"phi", decoder_plan},
                                 Family{"opt", decoder_plan},
                                 Family{"bloom", decoder_plan},
                                 Family{"bart", marian_plan},
                                 Family{"mbart", marian_plan},
                                 Family{"m2m_100", marian_plan},
                                 Family{"pegasus", marian_plan},
                                 Family{"bert", encoder_plan},
                                 Family{"roberta", encoder_plan},
                                 Family{"xlm-roberta", encoder_plan},
                                 Family{"distilbert", encoder_plan},
                                 Family{"albert", encoder_plan},
                                 Family{"electra", encoder_plan}};

Json read_object(const fs::path& path, std::uint64_t max_bytes) {
  const std::string bytes = read_file(path, max_bytes);
  Json json;
  try {
    json = parse_json(bytes);
  } catch (const nlohmann::json::exception& error) {
    throw CheckpointError(fmt::format("{}: invalid JSON: {}", path.string(), message_of(error)));
  } catch (const JsonTooDeep& error) {
    throw CheckpointError(fmt::format("{}: {}", path.string(), error.what()));
  }
  if (!json.is_object()) throw CheckpointError(fmt::format("{}: not a JSON object", path.string()));
  return json;
}

CheckpointPlan plan_of(const CheckpointFields& fields) {
  const std::string type = fields.text("model_type");
  const auto* const family = std::ranges::find(families, type, &Family::model_type);
  if (family != families.end()) return family->plan(fields);
  std::vector<std::string_view> names;
  for (const Family& known : families) names.push_back(known.model_type);
  fields.refuse("model_type", fmt::format("{}", fmt::join(names, ", ")));
}

constexpr std::string_view pickle_name = "pytorch_model.bin", pickle_index = "pytorch_model.bin.index.json";

// In one file or in several.
std::string pickle_help(const fs::path& folder, std::string_view name) {
  return fmt::format(
      "{0}/{1} is a pickle, which can run code when it is loaded, so it is not opened. Convert it once: python3 -c "
      "\"import glob, torch, safetensors.torch as s; s.save_file({{k: v.clone() for file in "
      "glob.glob('{0}/pytorch_model*.bin') for k, v in torch.load(file, map_location='cpu', "
      "weights_only=True).items()}}, '{0}/{2}')\"",
      folder.string(), name == pickle_index ? "pytorch_model-*.bin" : name, weights_name);
}

// torch.nn.DataParallel and torch.compile put these before every name.
std::string without_wrappers(std::string name) {
  for (const std::string_view wrapper : {"module.", "_orig_mod.", "module."})
    if (name.starts_with(wrapper)) name.erase(0, wrapper.size());
  return name;
}

// The only folder in it, or the one that refs/main names.
fs::path snapshot_of(const fs::path& cached) {
  std::error_code ignored;
  std::vector<fs::path> snapshots;
  for (const auto& entry : fs::directory_iterator(cached / "snapshots", ignored)) snapshots.push_back(entry.path());
  if (fs::exists(cached / "refs" / "main", ignored)) {
    const std::string main = read_file(cached / "refs" / "main", 1000);
    const auto found = std::ranges::find(snapshots, main.substr(0, main.find('\n')),
                                         [](const fs::path& snapshot) { return snapshot.filename().string(); });
    if (found != snapshots.end()) return *found;
  }
  if (snapshots.size() == 1) return snapshots.front();
  throw CheckpointError(
      fmt::format("{} has {} snapshots: open one of the folders in snapshots/", cached.string(), snapshots.size()));
}

// The files named by the index, each directly in the folder.
std::set<std::string> shards(const fs::path& index) {
  const Json json = read_object(index, largest_index);
  const auto map = json.find("weight_map");
  if (map == json.end() || !map->is_object())
    throw CheckpointError(fmt::format("{}: there is no \"weight_map\"", index.string()));
  std::set<std::string> names;
  for (const auto& [tensor, shard] : map->items()) {
    const fs::path name = shard.is_string() ? fs::path(shard.get<std::string>()) : fs::path();
    if (name.empty() || name.filename() != name || name == "..") {
      throw CheckpointError(
          fmt::format("{}: \"{}\" is in {}, which is not a file of this folder", index.string(), tensor, shard.dump()));
    }
    names.insert(name.string());
  }
  return names;
}

// Newer relatives of Llama (SmolLM) have GPT-2's tokenizer instead of SentencePiece's, and the newest files of every
// family are one tokenizer.json.
std::string tokenizer_family(const fs::path& folder, const std::string& family) {
  std::error_code ignored;
  const auto has = [&](const char* name) { return fs::exists(folder / name, ignored); };
  if (family == "llama" && !has("tokenizer.model") && (has("vocab.json") || has("tokenizer.json"))) return "gpt2";
  const bool lacks_model = (family == "t5" && !has("spiece.model")) || (family == "marian" && !has("source.spm"));
  return lacks_model && has("tokenizer.json") ? "json" : family;
}

}  // namespace

bool has_weights(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / weights_name, ignored) || fs::exists(folder / index_name, ignored);
}

fs::path model_folder(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) {
    const std::string other = other_format(read_beginning(path, 64), path.string());
    throw CheckpointError(other.empty() ? fmt::format("{} is a file: open the folder that contains it", path.string())
                                        : fmt::format("{} is {}", path.string(), other));
  }
  if (!fs::exists(path / config_name, ignored) && fs::is_directory(path / "snapshots", ignored))
    return snapshot_of(path);
  if (!fs::exists(path / config_name, ignored))
    if (const std::vector<TrainingStep> steps = training_steps(path); !steps.empty())
      return model_folder(steps.back().folder);
  if (has_weights(path)) return path;
  if (fs::exists(path / "adapter_config.json", ignored)) {
    const Json json = read_object(path / "adapter_config.json", largest_config);
    throw CheckpointError(
        fmt::format("{} is a LoRA adapter, which only changes another model ({}). Merge them with peft: "
                    "AutoPeftModelForCausalLM.from_pretrained(FOLDER).merge_and_unload().save_pretrained(NEW)",
                    path.string(), json.value("base_model_name_or_path", Json("unknown")).dump()));
  }
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    if (entry.path().extension() == ".gguf")
      throw CheckpointError(fmt::format("{} is {}", entry.path().string(), other_format("GGUF", "")));
  }
  for (const std::string_view name : {pickle_name, pickle_index})
    if (fs::exists(path / name, ignored))
      throw CheckpointError(pickle_help(path, name));
  return path;
}

bool is_checkpoint(const fs::path& folder) {
  std::error_code ignored;
  const bool alone = fs::exists(folder / config_name, ignored) && !fs::exists(folder / "corpus.json", ignored);
  try {
    const Json json = parse_json(read_file(folder / config_name, largest_config));
    if (!json.is_object()) return alone;
    return json.contains("model_type") || (alone && !json.contains("version"));
  } catch (const std::exception&) {
    return alone || (!fs::exists(folder / config_name, ignored) && !training_steps(folder).empty());
  }
}

// The names in config.json of what a setting comes from.
struct SettingNames {
  std::string_view setting;
  std::array<std::string_view, 5> names;
};
constexpr std::array setting_names = {
    SettingNames{"model.d_model", {"hidden_size", "d_model", "n_embd", "dim"}},
    SettingNames{"model.num_heads",
                 {"num_attention_heads", "encoder_attention_heads", "n_head", "num_heads", "n_heads"}},
    SettingNames{"model.num_kv_heads", {"num_key_value_heads"}},
    SettingNames{"model.num_encoder_layers", {"encoder_layers", "num_hidden_layers", "num_layers", "n_layers"}},
    SettingNames{"model.num_decoder_layers",
                 {"decoder_layers", "num_decoder_layers", "num_hidden_layers", "n_layer", "num_layers"}},
    SettingNames{"model.d_ff", {"intermediate_size", "encoder_ffn_dim", "ffn_dim", "d_ff", "hidden_dim"}},
    SettingNames{"model.max_length", {"max_position_embeddings", "n_positions", "seq_length"}},
    SettingNames{"model.norm_epsilon", {"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon"}},
    SettingNames{"model.rope_theta", {"rope_theta", "rotary_emb_base"}},
    SettingNames{"model.rope_scaling", {"rope_scaling"}},
    SettingNames{"model.window", {"sliding_window", "window_size"}},
    SettingNames{"tokenizer.vocab_size", {"vocab_size"}},
};

// A message about settings, with the names that the file has for them.
std::string in_their_names(std::string message, const Json& config) {
  for (const auto& [setting, names] : setting_names) {
    const auto theirs = std::ranges::find_if(names, [&](std::string_view name) { return config.contains(name); });
    if (theirs == names.end()) continue;
    for (std::size_t at = 0; (at = message.find(setting, at)) != std::string::npos; at += theirs->size())
      message.replace(at, setting.size(), fmt::format("\"{}\"", *theirs));
  }
  return message;
}

// If there are several end tokens, the one that the tokenizer names too, or else the first.
std::int64_t end_token(const fs::path& folder, const CheckpointFields& fields, std::int64_t first) {
  const std::vector<std::int64_t> ends = fields.tokens("eos_token_id");
  std::error_code ignored;
  if (ends.size() < 2 || !fs::exists(folder / "tokenizer_config.json", ignored)) return first;
  const Json settings = read_object(folder / "tokenizer_config.json", largest_index);
  const Json named = settings.value("eos_token", Json());
  const Json name = named.is_object() ? named.value("content", Json()) : named;
  const Json file = fs::exists(folder / "tokenizer.json", ignored)
                        ? read_object(folder / "tokenizer.json", largest_index)
                        : Json::object();
  for (const Json& token : file.value("added_tokens", Json::array())) {
    const std::int64_t id = token.value("id", std::int64_t{-1});
    if (token.value("content", Json()) == name && std::ranges::find(ends, id) != ends.end()) return id;
  }
  return first;
}

CheckpointPlan plan_checkpoint(const fs::path& folder) {
  std::error_code ignored;
  const fs::path decoding = folder / "generation_config.json";
  const Json config = read_object(folder / config_name, largest_config);
  const CheckpointFields fields(
      config, fs::exists(decoding, ignored) ? read_object(decoding, largest_config) : Json::object());
  try {
    CheckpointPlan plan = plan_of(fields);
    plan.config.model.end_id = end_token(folder, fields, plan.config.model.end_id);
    plan.config.tokenizer.family = tokenizer_family(folder, plan.config.tokenizer.family);
    for (const std::int64_t token : {plan.config.model.padding_id, plan.config.model.start_id, plan.config.model.end_id,
                                     plan.config.model.first_id, plan.config.model.banned_id}) {
      if (token >= plan.config.tokenizer.vocab_size) {
        throw CheckpointError(fmt::format("config.json: token {} lies outside the vocabulary of {}", token,
                                          plan.config.tokenizer.vocab_size));
      }
    }
    return plan;
  } catch (const CheckpointError& error) {
    throw CheckpointError(fmt::format("{}: {}", folder.string(), error.what()));
  } catch (const ConfigError& error) {
    throw CheckpointError(
        fmt::format("{}: config.json describes a model that is not supported: {}", folder.string(),
                    in_their_names(error.what(), config)));
  }
}

// ---- tensors

CheckpointTensors::CheckpointTensors(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder / weights_name, ignored)) {
    add_file(folder / weights_name);
  } else if (fs::exists(folder / index_name, ignored)) {
    for (const std::string& shard : shards(folder / index_name)) add_file(folder / shard);
  } else {
    throw CheckpointError(fmt::format("the weights are missing: neither {} nor {} is there", weights_name, index_name));
  }
}

void CheckpointTensors::add_file(const fs::path& path) {
  files_.emplace_back(path);
  for (TensorView& view : safetensors_views(files_.back().bytes(), path.string())) {
    const std::string name = without_wrappers(view.name);
    if (!tensors_.emplace(name, std::move(view)).second)
      throw CheckpointError(fmt::format("{}: tensor \"{}\" also appears in another file", path.string(), name));
  }
}

const TensorView* CheckpointTensors::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) return &found->second;
  // A model without its head was saved: "layers.0…" for "model.layers.0…".
  constexpr std::string_view body = "model.";
  return name.starts_with(body) ? find(name.substr(body.size())) : nullptr;
}

// ---- helpers of the families

Config checkpoint_config(const CheckpointFields& fields, const char* family) {
  Config config;
  config.corpus.source.clear();
  config.tokenizer.family = family;
  config.tokenizer.vocab_size = fields.whole("vocab_size");
  config.model.dropout = 0;
  config.training = fine_tuning();
  return config;
}

std::string own_name(const CheckpointFields& fields, const char* field, std::span<const OtherName> names,
                     std::string_view value) {
  const auto found = std::ranges::find(names, value, &OtherName::theirs);
  if (found != names.end()) return std::string(found->own);
  std::vector<std::string_view> known;
  for (const OtherName& name : names) known.push_back(name.theirs);
  fields.refuse(field, fmt::format("{}", fmt::join(known, ", ")));
}

void set_windows(ModelConfig& model, std::int64_t window, const std::vector<bool>& layers) {
  std::string pattern;
  for (const bool local : layers) pattern += local ? 'l' : 'g';
  std::size_t period = 1;
  const auto repeats = [&] {
    for (std::size_t i = period; i < pattern.size(); ++i)
      if (pattern[i] != pattern[i - period]) return false;
    return true;
  };
  while (period < pattern.size() && !repeats()) ++period;
  model.window = pattern.find('l') == std::string::npos ? 0 : window;
  if (model.window > 0) model.window_layers = pattern.substr(0, period);
}

Config checked(Config config) {
  check(config);
  if (!config.model.has_feed_forward()) throw CheckpointError("the width of the feed-forward sublayers is 0");
  return config;
}

void add_tensor(std::vector<TensorRow>& tensors, const std::string& parameter, std::vector<std::string> names,
                bool optional) {
  tensors.push_back({parameter, {{std::move(names)}}, optional});
}

void add_linear(std::vector<TensorRow>& tensors, const std::string& parameter, const std::vector<LinearPart>& parts,
                bool bias) {
  for (const char* kind : {".weight", ".bias"}) {
    if (!bias && std::string_view(kind) == ".bias") return;
    TensorRow& row = tensors.emplace_back(TensorRow{parameter + kind, {}});
    for (const LinearPart& part : parts) row.parts.push_back({{part.name + kind}, part.rows, part.change});
  }
}

void add_projections(std::vector<TensorRow>& tensors, const std::string& attention, const std::string& prefix,
                     const ModelConfig& model, TensorChange turned) {
  const bool decoder = attention.starts_with("decoder");
  const ModelConfig side = model.of_layer(decoder, 0);
  const std::int64_t width = side.num_heads * side.head_width(), keys = side.key_heads() * side.head_width();
  const std::array<TensorPart, 3> parts = {TensorPart{{prefix + ".q_proj"}, width, turned},
                                           TensorPart{{prefix + ".k_proj"}, keys, turned},
                                           TensorPart{{prefix + ".v_proj"}, keys, TensorChange::none}};
  for (const auto& [own, theirs] : {std::pair(".in_proj_weight", ".weight"), std::pair(".in_proj_bias", ".bias")}) {
    if (!model.biases && std::string_view(theirs) == ".bias") return;
    TensorRow& row = tensors.emplace_back(TensorRow{attention + own, {parts.begin(), parts.end()}});
    for (TensorPart& part : row.parts) part.names.front() += theirs;
  }
}

void add_norm(std::vector<TensorRow>& tensors, const std::string& parameter, const std::string& name, bool bias) {
  add_linear(tensors, parameter, {{name}}, bias);
}

}  // namespace attnscope
