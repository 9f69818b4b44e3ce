#include "plain/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "plain/position_schemes.h"

namespace attnscope {
namespace {

constexpr int config_version = 2;

bool counts_pieces(const Config& config) {
  return config.tokenizer.type != "char";
}
bool has_encoder(const Config& config) {
  return !config.model.is_language_model();
}
bool is_transformer(const Config& config) {
  return !config.model.is_recurrent();
}
bool is_recurrent(const Config& config) {
  return config.model.is_recurrent();
}
bool uses_relative_vectors(const Config& config) {
  return is_transformer(config) && position_scheme(config.model.positions).form == PositionForm::vectors;
}
bool uses_adamw(const Config& config) {
  return config.training.optimizer == "adamw";
}
bool uses_noam(const Config& config) {
  return config.training.schedule == "noam";
}
bool uses_plain_rate(const Config& config) {
  return !uses_noam(config);
}
bool uses_cosine(const Config& config) {
  return config.training.schedule == "cosine";
}
bool counts_pairs(const Config& config) {
  return config.training.batch_tokens == 0 || !has_encoder(config);
}

std::vector<std::string_view> position_names() {
  std::vector<std::string_view> names;
  for (const PositionScheme& scheme : position_schemes()) names.push_back(scheme.name);
  return names;
}

std::string_view positions_help() {
  static const std::string help = [] {
    std::string text = "what tells self-attention the order: ";
    for (const PositionScheme& scheme : position_schemes()) text += fmt::format("{}: {}; ", scheme.name, scheme.tells);
    return text + "cross-attention is told by none but those added to the embeddings";
  }();
  return help;
}

#define ATTNSCOPE_FIELD(member) +[](Config& config) -> FieldPointer { return &config.member; }

const std::vector<ConfigField>& table() {
  // key, label, help, unit, min, max, live, choices, place, used
  // clang-format off
  static const std::vector<ConfigField> fields = {
      {"corpus.source", "corpus",
       "a built-in corpus, a file of pairs (a line: source, tab, target), or the source side of two parallel files; for a "
       "decoder-only model any text file",
       "", 0, 0, false, {}, ATTNSCOPE_FIELD(corpus.source)},
      {"corpus.target", "target file",
       "the target side of two parallel files; empty for a built-in corpus or a file of pairs",
       "", 0, 0, false, {}, ATTNSCOPE_FIELD(corpus.target), has_encoder},
      {"corpus.seed", "seed",
       "decides the generated sentences and the split into training, validation and test",
       "", 0, 4294967295.0, false, {}, ATTNSCOPE_FIELD(corpus.seed)},
      {"corpus.separator", "separator",
       "what stands between source and target on a line of a pairs file; empty: a tab",
       "", 0, 0, false, {}, ATTNSCOPE_FIELD(corpus.separator), has_encoder},
      {"corpus.lowercase", "small letters",
       "a file's text is read in small letters, source and target; built-in corpora stay as they are",
       "", 0, 1, false, {}, ATTNSCOPE_FIELD(corpus.lowercase)},
      {"corpus.held_out", "held out",
       "of the sentences in a pairs file: this share for validation, and as many again for the test",
       "%", 0.1, 40, false, {}, ATTNSCOPE_FIELD(corpus.held_out), has_encoder},
      {"tokenizer.type", "type",
       "how SentencePiece finds its pieces: byte-pair encoding, a unigram language model, or single characters",
       "", 0, 0, false, {"bpe", "unigram", "char"}, ATTNSCOPE_FIELD(tokenizer.type)},
      {"tokenizer.vocab_size", "vocabulary",
       "pieces shared by source and target, at most: a small corpus gives fewer",
       "pieces", 16, 64000, false, {}, ATTNSCOPE_FIELD(tokenizer.vocab_size), counts_pieces},
      {"tokenizer.path", "load from",
       "a trained SentencePiece model to use; empty: train one on the corpus",
       "", 0, 0, false, {}, ATTNSCOPE_FIELD(tokenizer.path)},
      {"model.architecture", "architecture",
       "the Transformer that translates (paper §3.1), the decoder alone as a language model, or the recurrent networks "
       "that came before",
       "", 0, 0, false, {"encoder-decoder", "decoder-only", "recurrent"}, ATTNSCOPE_FIELD(model.architecture)},
      {"model.cell", "cell",
       "what carries the sentence from token to token: an Elman RNN, an LSTM (Hochreiter & Schmidhuber 1997) or a GRU "
       "(arXiv 1406.1078)",
       "", 0, 0, false, {"rnn", "lstm", "gru"}, ATTNSCOPE_FIELD(model.cell), is_recurrent},
      {"model.attention", "attention",
       "none: the whole sentence must fit the encoder's last state (arXiv 1409.3215); Bahdanau's additive attention "
       "(1409.0473 A.1.2); Luong's three scores (1508.04025 §3.1)",
       "", 0, 0, false, {"none", "bahdanau", "luong-dot", "luong-general", "luong-concat"},
       ATTNSCOPE_FIELD(model.attention), is_recurrent},
      {"model.bidirectional", "both ways",
       "the encoder reads the source from both ends, half of d_model each (1409.0473 §3.2)",
       "", 0, 1, false, {}, ATTNSCOPE_FIELD(model.bidirectional), is_recurrent},
      {"model.d_model", "d_model",
       "width of every vector between layers (paper §3.1); even, and divisible by num_heads",
       "", 8, 1024, false, {}, ATTNSCOPE_FIELD(model.d_model)},
      {"model.num_heads", "num_heads",
       "attention heads in every layer, each of width d_k = d_v = d_model / num_heads (paper §3.2.2)",
       "", 1, 32, false, {}, ATTNSCOPE_FIELD(model.num_heads), is_transformer},
      {"model.num_encoder_layers", "encoder layers",
       "layers that read the source (paper §3.1)",
       "", 1, 12, false, {}, ATTNSCOPE_FIELD(model.num_encoder_layers), has_encoder},
      {"model.num_decoder_layers", "decoder layers",
       "layers that write the target (paper §3.1)",
       "", 1, 12, false, {}, ATTNSCOPE_FIELD(model.num_decoder_layers)},
      {"model.d_ff", "d_ff",
       "inner width of the position-wise feed-forward sublayer (paper §3.3)",
       "", 8, 8192, false, {}, ATTNSCOPE_FIELD(model.d_ff), is_transformer},
      {"model.norm", "layer norm",
       "post: LayerNorm(x + Sublayer(x)) (paper §3.1); pre: x + Sublayer(LayerNorm(x)), which trains without warm-up "
       "(arXiv 2002.04745)",
       "", 0, 0, false, {"post", "pre"}, ATTNSCOPE_FIELD(model.norm), is_transformer},
      {"model.activation", "activation",
       "between the two matrices of the feed-forward sublayer: ReLU (paper §3.3) or GELU (arXiv 1606.08415)",
       "", 0, 0, false, {"relu", "gelu"}, ATTNSCOPE_FIELD(model.activation), is_transformer},
      {"model.positions", "positions",
       positions_help(),
       "", 0, 0, false, position_names(), ATTNSCOPE_FIELD(model.positions), is_transformer},
      {"model.max_distance", "farthest distance",
       "keys farther than this from their query share one relative vector (1803.02155 §3.2)",
       "pieces", 1, 1024, false, {}, ATTNSCOPE_FIELD(model.max_distance), uses_relative_vectors},
      {"model.scaled_attention", "divide by √d_k",
       "scores are divided by √d_k before the softmax (paper §3.2.1); without, it saturates",
       "", 0, 1, false, {}, ATTNSCOPE_FIELD(model.scaled_attention), is_transformer},
      {"model.dropout", "dropout",
       "share of activations set to zero while training: sublayer outputs, attention weights, embeddings (paper "
       "§5.4)",
       "", 0, 0.9, true, {}, ATTNSCOPE_FIELD(model.dropout)},
      {"model.tied_embeddings", "tied embeddings",
       "source embedding, target embedding and output matrix are one matrix (paper §3.4)",
       "", 0, 1, false, {}, ATTNSCOPE_FIELD(model.tied_embeddings)},
      {"model.max_length", "longest sentence",
       "longer pairs are left out of training, longer typed sentences are cut; for a decoder-only model the context",
       "pieces", 8, 1024, false, {}, ATTNSCOPE_FIELD(model.max_length)},
      {"training.steps", "steps",
       "optimizer updates after which training stops by itself",
       "updates", 1, 10000000, true, {}, ATTNSCOPE_FIELD(training.steps)},
      {"training.batch_size", "batch size",
       "sentence pairs a batch; windows of text for a decoder-only model",
       "pairs", 1, 4096, false, {}, ATTNSCOPE_FIELD(training.batch_size), counts_pairs},
      {"training.batch_tokens", "batch in pieces",
       "a batch takes as many pairs of like length as fit so many pieces of the longer side, padding included; 0: "
       "batch size decides",
       "pieces", 0, 1000000, false, {}, ATTNSCOPE_FIELD(training.batch_tokens), has_encoder},
      {"training.accumulation_steps", "accumulation",
       "batches whose gradients are summed before one update: a larger batch in the same memory",
       "batches", 1, 256, false, {}, ATTNSCOPE_FIELD(training.accumulation_steps)},
      {"training.optimizer", "optimizer",
       "Adam (arXiv 1412.6980), or AdamW, which shrinks the matrices a little at every update (1711.05101)",
       "", 0, 0, false, {"adam", "adamw"}, ATTNSCOPE_FIELD(training.optimizer)},
      {"training.weight_decay", "weight decay",
       "AdamW: matrices lose this share, times the learning rate, at every update; biases and gains do not",
       "", 0, 1, true, {}, ATTNSCOPE_FIELD(training.weight_decay), uses_adamw},
      {"training.beta2", "Adam β2",
       "decay of the mean squared gradient (paper §5.3: 0.98)",
       "", 0.5, 0.9999, false, {}, ATTNSCOPE_FIELD(training.beta2)},
      {"training.schedule", "schedule",
       "the learning rate after its warm-up: Noam falls with step^-0.5 (paper §5.3), cosine falls to its minimum at "
       "the last step, constant stays",
       "", 0, 0, false, {"noam", "cosine", "constant"}, ATTNSCOPE_FIELD(training.schedule)},
      {"training.noam_factor", "Noam factor",
       "factor on the Noam schedule d_model^-0.5 · min(step^-0.5, step · warmup^-1.5) (paper §5.3)",
       "× Noam", 0.001, 100, true, {}, ATTNSCOPE_FIELD(training.noam_factor), uses_noam},
      {"training.learning_rate", "learning rate",
       "the rate at the end of the warm-up",
       "", 0.000001, 10, true, {}, ATTNSCOPE_FIELD(training.learning_rate), uses_plain_rate},
      {"training.min_learning_rate", "lowest rate",
       "what the cosine reaches at the last step",
       "", 0, 10, true, {}, ATTNSCOPE_FIELD(training.min_learning_rate), uses_cosine},
      {"training.warmup_steps", "warm-up",
       "updates until the learning rate reaches its peak (paper §5.3)",
       "updates", 1, 1000000, false, {}, ATTNSCOPE_FIELD(training.warmup_steps)},
      {"training.label_smoothing", "label smoothing",
       "share of the target probability spread over the whole vocabulary (paper §5.4)",
       "", 0, 0.9, true, {}, ATTNSCOPE_FIELD(training.label_smoothing)},
      {"training.clip_norm", "gradient clipping",
       "longer gradients are scaled down to this norm; 0 turns clipping off",
       "", 0, 1000, true, {}, ATTNSCOPE_FIELD(training.clip_norm)},
      {"training.validation_interval", "validate every",
       "updates between two validations",
       "updates", 1, 1000000, false, {}, ATTNSCOPE_FIELD(training.validation_interval)},
      {"training.history_interval", "look every",
       "updates between two looks at the pinned sentences",
       "updates", 1, 1000000, true, {}, ATTNSCOPE_FIELD(training.history_interval)},
      {"training.checkpoint_interval", "save every",
       "updates between two checkpoints of a run that has a folder",
       "updates", 1, 1000000, false, {}, ATTNSCOPE_FIELD(training.checkpoint_interval)},
      {"training.kept_checkpoints", "keep",
       "weights of this many checkpoints stay in the run's folder, so that their mean can be used (paper §6.1)",
       "checkpoints", 0, 100, false, {}, ATTNSCOPE_FIELD(training.kept_checkpoints)},
      {"training.seed", "seed",
       "decides initial weights, batch order and dropout; the same seed gives the same losses on a CPU",
       "", 0, 4294967295.0, false, {}, ATTNSCOPE_FIELD(training.seed)},
      {"training.device", "device",
       "where the model computes; auto takes CUDA when there is one",
       "", 0, 0, false, {"auto", "cpu", "cuda"}, ATTNSCOPE_FIELD(training.device)},
      {"training.threads", "CPU threads",
       "0: all cores",
       "", 0, 256, true, {}, ATTNSCOPE_FIELD(training.threads)},
  };
  // clang-format on
  return fields;
}

#undef ATTNSCOPE_FIELD

FieldPointer pointer(const Config& config, const ConfigField& field) {
  return field.value(const_cast<Config&>(config));  // callers only read through it
}

std::string range_text(const ConfigField& field) {
  return fmt::format("{} to {}{}{}", field.min, field.max, field.unit.empty() ? "" : " ", field.unit);
}

void check_range(const ConfigField& field, double value) {
  if (!std::isfinite(value) || value < field.min || value > field.max) {
    throw ConfigError(fmt::format("{} is {}, allowed: {}", field.key, value, range_text(field)));
  }
}

void check_choice(const ConfigField& field, const std::string& value) {
  if (!field.choices.empty() && std::find(field.choices.begin(), field.choices.end(), value) == field.choices.end()) {
    throw ConfigError(fmt::format("{} is \"{}\", allowed: {}", field.key, value, fmt::join(field.choices, ", ")));
  }
}

void check_field(const Config& config, const ConfigField& field) {
  const FieldPointer value = pointer(config, field);
  if (const auto* integer = std::get_if<std::int64_t*>(&value)) check_range(field, static_cast<double>(**integer));
  if (const auto* real = std::get_if<double*>(&value)) check_range(field, **real);
  if (const auto* text = std::get_if<std::string*>(&value)) check_choice(field, **text);
}

template <typename Number>
Number parse_number(const ConfigField& field, std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw ConfigError(fmt::format("{} is \"{}\", allowed: {} {}", field.key, text,
                                  std::is_integral_v<Number> ? "a whole number," : "a number,", range_text(field)));
  }
  return number;
}

bool parse_bool(const ConfigField& field, std::string_view text) {
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  throw ConfigError(fmt::format("{} is \"{}\", allowed: true, false", field.key, text));
}

std::string section(const ConfigField& field) {
  return std::string(field.key.substr(0, field.key.find('.')));
}
std::string name(const ConfigField& field) {
  return std::string(field.key.substr(field.key.find('.') + 1));
}

void read_field(Config& config, const ConfigField& field, const nlohmann::json& json) {
  const auto wrong = [&](const char* type) {
    return ConfigError(fmt::format("{} is {}, it should be {}", field.key, json.dump(), type));
  };
  std::visit(
      [&](auto* value) {
        using Value = std::decay_t<decltype(*value)>;
        if constexpr (std::is_same_v<Value, bool>) {
          if (!json.is_boolean()) throw wrong("true or false");
        } else if constexpr (std::is_same_v<Value, std::int64_t>) {
          if (!json.is_number_integer()) throw wrong("a whole number");
        } else if constexpr (std::is_same_v<Value, double>) {
          if (!json.is_number()) throw wrong("a number");
        } else {
          if (!json.is_string()) throw wrong("a text in quotes");
        }
        *value = json.get<Value>();
      },
      field.value(config));
}

const ConfigField* find_field(std::string_view key) {
  const auto& fields = table();
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const ConfigField& field) { return field.key == key; });
  return found == fields.end() ? nullptr : &*found;
}

// The fields of that name in any section; failing that, those of that section; failing that, all.
std::vector<std::string_view> nearest_keys(std::string_view key) {
  const std::string_view key_section = key.substr(0, key.find('.'));
  const std::string_view key_name = key.substr(key.rfind('.') + 1);  // all of it when there is no dot: npos + 1 is 0
  std::vector<std::string_view> same_name;
  std::vector<std::string_view> same_section;
  std::vector<std::string_view> all;
  for (const ConfigField& field : table()) {
    if (name(field) == key_name) same_name.push_back(field.key);
    if (section(field) == key_section) same_section.push_back(field.key);
    all.push_back(field.key);
  }
  if (!same_name.empty()) return same_name;
  return same_section.empty() ? all : same_section;
}

// Version 1 knew one schedule, and called its factor the learning rate.
std::string key_since_version_2(const std::string& key) {
  return key == "training.learning_rate" ? "training.noam_factor" : key;
}

bool is_section(std::string_view text) {
  return std::any_of(table().begin(), table().end(), [&](const ConfigField& field) { return section(field) == text; });
}

}  // namespace

std::span<const ConfigField> config_fields() {
  return table();
}

const ConfigField& config_field(std::string_view key) {
  if (const ConfigField* field = find_field(key)) return *field;
  throw ConfigError(fmt::format("there is no field \"{}\"; did you mean: {}", key, fmt::join(nearest_keys(key), ", ")));
}

void set_field(Config& config, std::string_view key, std::string_view text) {
  const ConfigField& field = config_field(key);
  Config edited = config;
  std::visit(
      [&](auto* value) {
        using Value = std::decay_t<decltype(*value)>;
        if constexpr (std::is_same_v<Value, bool>) {
          *value = parse_bool(field, text);
        } else if constexpr (std::is_same_v<Value, std::string>) {
          *value = std::string(text);
        } else {
          *value = parse_number<Value>(field, text);
        }
      },
      field.value(edited));
  check_field(edited, field);
  config = std::move(edited);
}

std::string field_text(const Config& config, const ConfigField& field) {
  return std::visit([](auto* value) { return fmt::format("{}", *value); }, pointer(config, field));
}

bool is_used(const Config& config, const ConfigField& field) {
  return !field.used || field.used(config);
}

void check(const Config& config) {
  for (const ConfigField& field : table()) check_field(config, field);
  const ModelConfig& model = config.model;
  if (model.d_model % 2 != 0)
    throw ConfigError(fmt::format("model.d_model is {}, allowed: even numbers", model.d_model));
  if (is_recurrent(config)) return;
  if (model.d_model % model.num_heads != 0) {
    throw ConfigError(
        fmt::format("model.num_heads is {}, allowed: divisors of model.d_model, {}", model.num_heads, model.d_model));
  }
  const PositionScheme& positions = position_scheme(model.positions);
  if (positions.form == PositionForm::rotation && model.d_model / model.num_heads % 2 != 0) {
    throw ConfigError(fmt::format("model.num_heads is {}, allowed with {}: an even width d_model / num_heads, not {}",
                                  model.num_heads, positions.name, model.d_model / model.num_heads));
  }
}

nlohmann::json to_json(const Config& config) {
  nlohmann::json json = {{"version", config_version}};
  for (const ConfigField& field : table()) {
    std::visit([&](auto* value) { json[section(field)][name(field)] = *value; }, pointer(config, field));
  }
  return json;
}

Config config_from_json(const nlohmann::json& json) {
  if (!json.is_object()) throw ConfigError("a configuration is a JSON object");
  const nlohmann::json version = json.value("version", nlohmann::json());
  if (version != config_version && version != 1) {
    throw ConfigError(fmt::format("version is {}, allowed: 1, {}", version.dump(), config_version));
  }
  Config config;
  for (const auto& [section_name, fields] : json.items()) {
    if (section_name == "version") continue;
    if (!is_section(section_name)) throw ConfigError(fmt::format("there is no section \"{}\"", section_name));
    if (!fields.is_object())
      throw ConfigError(fmt::format("{} is {}, it should be an object", section_name, fields.dump()));
    for (const auto& [field_name, value] : fields.items()) {
      const std::string key = section_name + "." + field_name;
      read_field(config, config_field(version == 1 ? key_since_version_2(key) : key), value);
    }
  }
  check(config);
  return config;
}

Config with_live_fields(const Config& base, const Config& edited) {
  Config merged = base;
  for (const ConfigField& field : table()) {
    if (field.live) set_field(merged, field.key, field_text(edited, field));
  }
  return merged;
}

bool needs_reset(const Config& running, const Config& edited) {
  return with_live_fields(running, edited) != edited;
}

}  // namespace attnscope
