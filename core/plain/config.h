// What a run is made of: one struct a part, and one table that describes every field of them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plain/error.h"

namespace attnscope {

// What is read and how it is split: sentence pairs, or running text for a decoder-only model.
struct CorpusConfig {
  std::string source = "english-french";  // built-in corpus, or a file, or the source side of two parallel files
  std::string target = {};                // the target side of two parallel files; empty otherwise
  std::int64_t seed = 1;                  // generation and split
  std::int64_t edition = 6;               // of the built-in English–French corpus
  std::string separator = {};             // between source and target on a line of a pairs file; empty: a tab
  bool lowercase = false;                 // a file's text is read in small letters
  double held_out = 5;                    // of a pairs file's sources: percent for validation, and for the test again
  bool operator==(const CorpusConfig&) const = default;
};

// How text becomes pieces: one SentencePiece model for both sides.
struct TokenizerConfig {
  std::string type = "bpe";        // "bpe", "unigram" or "char"
  std::int64_t vocab_size = 2000;  // pieces, at most (small corpora give fewer)
  std::string path;                // a trained SentencePiece model to load instead; empty: train one
  std::string family =
      "sentencepiece";  // whose files cut the text: of other programs' checkpoints "marian", "llama", …
  bool operator==(const TokenizerConfig&) const = default;
};

// Pieces that mean something to the model, by their numbers in the vocabulary; −1: there is none.
struct SpecialTokens {
  int padding = 0;
  int start = 1;  // what a decoder with an encoder begins with
  int end = 2;
  int unknown = 3;
  bool ends_targets = true;  // `end` stands after every target; a label stands alone
  bool ends_lines = true;    // in running text for every line feed; otherwise line feeds have pieces of their own
  bool operator==(const SpecialTokens&) const = default;
};

// Sections cited are of Vaswani et al. 2017 (arXiv 1706.03762) where no other paper is named.
struct ModelConfig {
  // "encoder-decoder", "decoder-only" (a language model), "recurrent", or "classifier" (a label for a text)
  std::string architecture = "encoder-decoder";
  // Folder of the run or checkpoint whose weights, and tokenizer, the model begins with; empty: random weights.
  std::string from = {};
  std::int64_t d_model = 128;             // width of every vector between layers (§3.1)
  std::int64_t num_heads = 2;             // attention heads a layer, d_k = d_v = d_model / num_heads (§3.2.2)
  std::int64_t num_encoder_layers = 2;    // §3.1
  std::int64_t num_decoder_layers = 1;    // §3.1
  std::int64_t d_ff = 256;                // inner width of the feed-forward sublayer (§3.3)
  std::string initialization = "xavier";  // of a Transformer: "xavier", or "unit", which learns later
  std::string norm = "post";           // "post": LayerNorm(x + Sublayer(x)) (§3.1); "pre": x + Sublayer(LayerNorm(x))
  std::string norm_kind = "layer";     // "layer": LayerNorm (1607.06450); "rms": without mean and shift (1910.07467)
  double norm_epsilon = 1e-5;          // added to the variance
  bool final_norm = true;              // once more after the last layer of a stack
  std::string activation = "relu";     // of the feed-forward sublayer (§3.3): see model/feed_forward.h
  std::string positions = "shaw";      // how order is told: see plain/position_schemes.h
  std::int64_t max_distance = 16;      // Shaw: farther keys count as this far (1803.02155 §3.2)
  double rope_theta = 10000;           // RoPE: base of the wavelengths (2104.09864 §3.2.2)
  bool scaled_attention = true;        // scores divided by √d_k (§3.2.1)
  std::int64_t num_kv_heads = 0;       // key and value heads, each for several query heads (2305.13245); 0: num_heads
  std::int64_t d_head = 0;             // d_k = d_v; 0: d_model / num_heads
  bool biases = true;                  // of the linear maps inside the layers
  std::string cell = "lstm";           // recurrent: "rnn", "lstm" or "gru"
  std::string attention = "bahdanau";  // recurrent: "none", "bahdanau", "luong-dot", "luong-general", "luong-concat"
  bool bidirectional = false;          // recurrent: the encoder reads both ways (1409.0473 §3.2)
  std::string reader = "transformer";  // classifier: "transformer" or "recurrent" reads the text
  std::string pooling = "attention";   // classifier: what is made of its states, see model/pooling.h
  std::int64_t num_classes = 0;        // classifier: labels of the corpus, the last pieces of the vocabulary
  double dropout = 0.1;                // §5.4
  bool tied_embeddings = true;         // source embedding = target embedding = output matrix (§3.4)
  bool tied_inputs = false;            // not tied: source embedding = target embedding still
  bool scaled_embeddings = true;       // embeddings times √d_model (§3.4)
  bool scaled_output = false;          // what the output matrix is given divided by √d_model (T5, where it is tied)
  bool output_bias = false;            // a number a piece, added to its logit
  std::int64_t max_length = 128;       // longest sentence, or context of a decoder-only model, in pieces
  // Special pieces, where the tokenizer is not one of attnscope's own.
  std::int64_t padding_id = 0;
  std::int64_t start_id = 1;
  std::int64_t end_id = 2;
  std::int64_t unknown_id = 3;
  std::int64_t banned_id = -1;  // never written
  bool ends_text = false;       // language model: its end piece ends what it writes, and is no line's end
  bool operator==(const ModelConfig&) const = default;

  bool is_language_model() const { return architecture == "decoder-only"; }
  bool is_classifier() const { return architecture == "classifier"; }
  bool is_recurrent() const { return architecture == "recurrent" || (is_classifier() && reader == "recurrent"); }
  // A recurrent reader's last state stands for all of the text; any other pooling is a weighted sum of states.
  bool pools_by_weights() const { return is_classifier() && !(is_recurrent() && pooling == "last"); }
  bool has_encoder() const { return !is_language_model(); }
  bool has_decoder() const { return !is_classifier(); }
  bool has_tied_output() const { return tied_embeddings && has_decoder(); }
  bool has_one_embedding() const { return tied_embeddings || tied_inputs || !has_encoder() || !has_decoder(); }
  bool writing_ends() const { return !is_language_model() || ends_text; }  // at the end piece
  bool is_gated() const { return activation == "swiglu" || activation == "geglu"; }
  std::int64_t head_width() const { return d_head > 0 ? d_head : d_model / num_heads; }
  std::int64_t key_heads() const { return num_kv_heads > 0 ? num_kv_heads : num_heads; }
  SpecialTokens special() const {
    return {static_cast<int>(padding_id),
            static_cast<int>(start_id),
            static_cast<int>(end_id),
            static_cast<int>(unknown_id),
            has_decoder(),
            !ends_text};
  }
};

struct TrainingConfig {
  std::int64_t steps = 12000;               // optimizer updates until training stops by itself
  std::int64_t batch_size = 64;             // sentence pairs (or windows of text) a batch
  std::int64_t batch_tokens = 0;            // instead: as many pairs as fit so many pieces of the longer side; 0: off
  std::string batch_order = "chance";       // pairs of a batch: by "chance", of like length on the "source", on "both"
  std::int64_t accumulation_steps = 1;      // batches whose gradients are summed for one update
  std::string precision = "float32";        // of the products of matrices: "float32" or "bfloat16"
  bool recompute = false;                   // layers are run again by the backward pass instead of kept (1604.06174)
  std::string optimizer = "adam";           // "adam" or "adamw"
  double beta2 = 0.98;                      // Adam's decay of the second moment (§5.3)
  double weight_decay = 0.1;                // AdamW, on matrices only
  std::string schedule = "noam";            // "noam", "cosine" or "constant", each after a warm-up
  double noam_factor = 1.0;                 // factor on the Noam schedule (§5.3)
  double learning_rate = 0.001;             // cosine, constant: the rate after warm-up
  double min_learning_rate = 0;             // cosine: the rate at the last step
  std::int64_t warmup_steps = 1000;         // updates until the schedule's peak (§5.3)
  double label_smoothing = 0.1;             // ε (§5.4)
  double teacher_forcing = 1;               // share of positions at which the decoder is told the target's piece
  double clip_norm = 1.0;                   // largest gradient norm; 0 turns clipping off
  std::int64_t validation_interval = 200;   // updates between two validations
  std::int64_t history_interval = 50;       // updates between two looks at the pinned sentences
  std::int64_t checkpoint_interval = 1000;  // updates between two checkpoints of a run that has a folder
  std::int64_t kept_checkpoints = 0;        // older weights that stay in the run's folder, to be averaged
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
class ConfigError : public Error {
 public:
  using Error::Error;
};

using FieldPointer = std::variant<std::int64_t*, double*, bool*, std::string*>;

// What a field can be: numbers from min to max, one of the choices, or, without choices, any text.
struct FieldLimits {
  double min = 0;
  double max = 0;
  std::string_view unit = {};  // "" when it has none
  std::vector<std::string_view> choices = {};
};

// One row of the table that drives config.json, --set, the setup column and its tooltips.
struct ConfigField {
  std::string_view key;            // "model.d_model"; the part before the dot is the section
  FieldPointer (*value)(Config&);  // where the value stands in a Config
  std::string_view label;          // as the setup column shows it
  FieldLimits limits;
  std::string_view help;                  // what it does and where the paper has it
  bool (*used)(const Config&) = nullptr;  // whether this configuration makes use of it; null: every one does
  bool live = false;                      // takes effect while training; otherwise only by Reset
};

// Every field, section by section, in the order it is shown.
std::span<const ConfigField> config_fields();

// The field named `key`; throws ConfigError with the nearest names if there is none.
const ConfigField& config_field(std::string_view key);

// Reads `text` as the field's type and stores it; throws ConfigError if it is not one or is out of range.
void set_field(Config& config, std::string_view key, std::string_view text);

// The field's value as set_field would read it.
std::string field_text(const Config& config, const ConfigField& field);

// True if the configuration makes use of the field: a recurrent model has no heads.
bool is_used(const Config& config, const ConfigField& field);

// Throws ConfigError at the first value out of its range, and at d_model not divisible by num_heads or odd.
void check(const Config& config);

// {"version":3,"corpus":{…},"tokenizer":{…},"model":{…},"training":{…}}
nlohmann::json to_json(const Config& config);

// Absent fields keep their defaults; unknown fields, wrong types, values out of range and unknown versions are refused.
// Versions 1 and 2 are understood: their runs had corpus.edition 1, model.initialization "unit" and
// training.batch_order "both", and version 1 called noam_factor training.learning_rate.
Config config_from_json(const nlohmann::json& json);

// `base` with every live field taken from `edited`.
Config with_live_fields(const Config& base, const Config& edited);

}  // namespace attnscope
