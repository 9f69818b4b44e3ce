// What a run is made of: one struct a part, and one table that describes every field of them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace attnscope {

// Which sentence pairs are read and how they are split.
struct CorpusConfig {
  std::string source = "english-french";  // built-in corpus, or a TSV file, or the source side of two parallel files
  std::string target;                     // the target side of two parallel files; empty otherwise
  std::int64_t seed = 1;                  // generation and split
  bool operator==(const CorpusConfig&) const = default;
};

// How text becomes pieces: one SentencePiece model for both sides.
struct TokenizerConfig {
  std::string type = "bpe";        // "bpe" or "unigram"
  std::int64_t vocab_size = 2000;  // pieces, at most (small corpora give fewer)
  std::string path;                // a trained SentencePiece model to load instead; empty: train one
  bool operator==(const TokenizerConfig&) const = default;
};

// The encoder–decoder of Vaswani et al. 2017 (arXiv 1706.03762).
struct ModelConfig {
  std::int64_t d_model = 128;           // width of every vector between layers (§3.1)
  std::int64_t num_heads = 4;           // attention heads a layer; divides d_model (§3.2.2)
  std::int64_t num_encoder_layers = 2;  // §3.1
  std::int64_t num_decoder_layers = 2;  // §3.1
  std::int64_t d_ff = 512;              // inner width of the feed-forward sublayer (§3.3)
  double dropout = 0.1;                 // §5.4
  bool tied_embeddings = true;          // source embedding = target embedding = output matrix (§3.4)
  std::int64_t max_length = 128;        // longest sentence, in pieces
  bool operator==(const ModelConfig&) const = default;
};

struct TrainingConfig {
  std::int64_t steps = 6000;                // optimizer updates until training stops by itself
  std::int64_t batch_size = 64;             // sentence pairs an update
  double learning_rate = 1.0;               // factor on the Noam schedule (§5.3)
  std::int64_t warmup_steps = 1000;         // updates until the schedule's peak (§5.3)
  double label_smoothing = 0.1;             // ε (§5.4)
  double clip_norm = 1.0;                   // largest gradient norm; 0 turns clipping off
  std::int64_t validation_interval = 200;   // updates between two validations
  std::int64_t checkpoint_interval = 1000;  // updates between two checkpoints of a run that has a folder
  std::int64_t seed = 1;                    // weights, batch order and dropout
  std::string device = "auto";              // "auto", "cpu" or "cuda"
  std::int64_t threads = 0;                 // CPU threads; 0: all cores (one is left for the window under software GL)
  bool operator==(const TrainingConfig&) const = default;
};

struct Config {
  CorpusConfig corpus;
  TokenizerConfig tokenizer;
  ModelConfig model;
  TrainingConfig training;
  bool operator==(const Config&) const = default;
};

// A value that a configuration file, --set or the setup column gave and that cannot be used. The message names the
// field, the value and what is allowed.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using FieldPointer = std::variant<std::int64_t*, double*, bool*, std::string*>;

// One row of the table that drives config.json, --set, the setup column and its tooltips.
struct ConfigField {
  std::string_view key;    // "model.d_model"; the part before the dot is the section
  std::string_view label;  // as the setup column shows it
  std::string_view help;   // what it does and where the paper has it
  std::string_view unit;   // "" when it has none
  double min = 0;          // numbers only, inclusive
  double max = 0;
  bool live = false;                      // takes effect while training; otherwise only by Reset
  std::vector<std::string_view> choices;  // strings only; empty: any text
  FieldPointer (*value)(Config&);         // where the value stands in a Config
};

// Every field, section by section, in the order it is shown.
std::span<const ConfigField> config_fields();

// The field named `key`; throws ConfigError with the nearest names if there is none.
const ConfigField& config_field(std::string_view key);

// Reads `text` as the field's type and stores it; throws ConfigError if it is not one or is out of range.
void set_field(Config& config, std::string_view key, std::string_view text);

// The field's value as set_field would read it.
std::string field_text(const Config& config, const ConfigField& field);

// Throws ConfigError at the first value out of its range, and at d_model not divisible by num_heads or odd.
void check(const Config& config);

// {"version":1,"corpus":{…},"tokenizer":{…},"model":{…},"training":{…}}
nlohmann::json to_json(const Config& config);

// Absent fields keep their defaults; unknown fields, wrong types, values out of range and other versions are refused.
Config config_from_json(const nlohmann::json& json);

// `base` with every live field taken from `edited`.
Config with_live_fields(const Config& base, const Config& edited);

// True if the two differ in a field that only Reset brings into force.
bool needs_reset(const Config& running, const Config& edited);

}  // namespace attnscope
