// The configuration of a run: one struct per part, and one table that describes every field.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/error.h"
#include "config/heads.h"

namespace attnscope {

// The data and its split: sentence pairs, or running text for a decoder-only model.
struct CorpusConfig {
  std::string source = "english-french";  // built-in corpus, a file, or the source side of two parallel files
  std::string target = {};                // the target side of two parallel files; empty otherwise
  std::int64_t seed = 1;                  // generation and split
  std::string separator = {};             // between source and target in a line of a pairs file; empty: a tab
  bool lowercase = false;                 // a file's text is lowercased
  bool normalize = true;                  // a file's and typed text is read as NFC, every kind of space as a space
  double held_out = 5;  // percent of a pairs file's sources (or of modular's) for validation, and as many for testing
  std::int64_t modulus = 59;    // modular, rules: p
  std::string operation = "+";  // modular: "+", "-", "*", "/" or "x^2+y^2"
  bool operator==(const CorpusConfig&) const = default;
};

// Tokenization: one SentencePiece model for both sides.
struct TokenizerConfig {
  std::string type = "bpe";              // "bpe", "unigram", "char" or "word"
  std::int64_t vocab_size = 2000;        // maximum number of pieces (small corpora give fewer)
  std::string path;                      // of a trained SentencePiece model to load; empty: train one
  std::string family = "sentencepiece";  // tokenizer family: for other programs' checkpoints "marian", "llama", …
  bool operator==(const TokenizerConfig&) const = default;
};

// Token ids with a special meaning for the model; −1: none.
struct SpecialTokens {
  int padding = 0;
  int start = 1;  // first input of a decoder with an encoder
  int end = 2;
  int unknown = 3;
  int mask = -1;
  int first = -1;            // begins every target, such as its language; −1: none
  bool ends_targets = true;  // `end` follows every target; a label has no end token
  bool ends_lines = true;    // replaces every line feed of running text; otherwise line feeds have their own tokens
  bool operator==(const SpecialTokens&) const = default;
};

// The attention of a capture (files/captures/capture.h): another program recorded it, and there is no model.
struct CapturedAttention {
  std::array<PartSize, 3> parts = {};  // in the order of AttentionPart
  bool is_signed = false;              // scores, gradients or relevance, not weights
  bool sums_to_one = true;             // every row of every map does
  bool causal = false;                 // no query of the decoder attends to a later key
  bool operator==(const CapturedAttention&) const = default;
};

// Sections without another paper named refer to Vaswani et al. 2017 (arXiv 1706.03762).
struct ModelConfig {
  // "encoder-decoder", "decoder-only" (a language model), "masked-lm" (an encoder that predicts masked tokens,
  // 1810.04805), "recurrent", or "classifier" (a label for a text)
  std::string architecture = "encoder-decoder";
  // Folder of the run or checkpoint from which weights and tokenizer are initialized; empty: random weights.
  std::string from = {};
  std::int64_t d_model = 128;             // width of every vector between layers (§3.1)
  std::int64_t num_heads = 2;             // attention heads per layer, d_k = d_v = d_model / num_heads (§3.2.2)
  std::int64_t num_encoder_layers = 2;    // §3.1
  std::int64_t num_decoder_layers = 1;    // §3.1
  std::int64_t d_ff = 256;                // inner width of the feed-forward sublayer (§3.3); 0: attention-only
  std::string initialization = "xavier";  // of a Transformer: "xavier", or "unit", which learns more slowly at first
  std::string norm = "post";  // "post": LayerNorm(x + Sublayer(x)) (§3.1); "pre": x + Sublayer(LayerNorm(x))
  std::string norm_kind =
      "layer";                 // "layer": LayerNorm (1607.06450); "rms": without mean and shift (1910.07467); "none"
  double norm_epsilon = 1e-5;  // added to the variance
  bool final_norm = true;      // another norm after the last layer of a stack
  bool output_norms = false;   // pre-norm: another norm of every sublayer's output (Gemma 2, 2408.00118 §2)
  bool parallel_sublayers = false;  // pre-norm: x + attention(norm(x)) + feed-forward(norm(x)) (2204.06745 §2.1)
  std::string activation = "relu";    // of the feed-forward sublayer (§3.3): see model/feed_forward.h
  std::string positions = "shaw";     // positional encoding: see config/position_schemes.h
  std::int64_t max_distance = 16;     // Shaw: larger distances are clipped to it (1803.02155 §3.2)
  double rope_theta = 10000;          // RoPE: base of the wavelengths (2104.09864 §3.2.2)
  double local_rope_theta = 0;        // RoPE: base in the layers with a window, which have no scaling; 0: rope_theta
  std::string rope_scaling = "none";  // RoPE: see config/rope_scaling.h
  std::int64_t rotary_width = 0;      // RoPE: dimensions of a head that are rotated (2204.06745 §2.1); 0: all
  std::int64_t window = 0;            // keys that a query attends to, itself included (2310.06825 §2); 0: all
  std::string window_layers = "l";    // which layers have the window, repeated: l local, g global
  bool query_key_norm = false;        // every head's queries and keys are normalized (2010.04245)
  bool scaled_attention = true;       // scores divided by √d_k (§3.2.1)
  double score_width = 0;             // scores divided by the root of this number; 0: d_k
  double score_cap = 0;               // scores become c · tanh(score / c) (2408.00118 §2); 0: unlimited
  double logit_cap = 0;               // the same for the logits
  std::int64_t num_decoder_heads = 0;  // of an encoder-decoder; 0: num_heads
  std::int64_t decoder_d_ff = 0;       // of an encoder-decoder; 0: d_ff
  std::int64_t num_kv_heads = 0;  // key and value heads, each shared by several query heads (2305.13245); 0: num_heads
  std::int64_t d_head = 0;        // d_k = d_v; 0: d_model / num_heads
  std::int64_t layer_groups = 0;  // encoder layers that have weights of their own (1909.11942 §3.1); 0: all
  bool biases = true;             // of the linear maps inside the layers
  std::string cell = "lstm";      // recurrent: "rnn", "lstm" or "gru"
  std::string attention = "bahdanau";  // recurrent: "none", "bahdanau", "luong-dot", "luong-general", "luong-concat"
  bool bidirectional = false;          // recurrent: bidirectional encoder (1409.0473 §3.2)
  std::string reader = "transformer";  // classifier: encoder type, "transformer" or "recurrent"
  std::string pooling = "attention";   // classifier: pooling of the encoder states, see model/pooling.h
  std::int64_t num_classes = 0;        // classifier: labels of the corpus, the last ids of the vocabulary
  double dropout = 0.1;                // §5.4
  bool tied_embeddings = true;         // source embedding = target embedding = output matrix (§3.4)
  bool tied_inputs = false;            // if not tied_embeddings: still source embedding = target embedding
  bool scaled_embeddings = true;       // embeddings times √d_model (§3.4)
  std::int64_t d_embedding = 0;   // width of the embeddings, widened by a linear map (1909.11942 §3.1); 0: d_model
  bool embedding_norm = false;    // a norm after the sum of the embeddings (1810.04805)
  std::int64_t token_types = 0;   // masked-lm: learned vectors for the sentences of a pair; 0: none
  std::string head = "tokens";    // masked-lm: "tokens" (§3.1), "replaced" (2003.10555 §2) or "none"
  double head_epsilon = 0;        // masked-lm: of the head's norm; 0: norm_epsilon
  bool scaled_output = false;     // the input of the output matrix is divided by √d_model (T5, if tied)
  bool output_bias = false;       // one number per token, added to its logit
  std::int64_t max_length = 128;  // longest sentence, or context of a decoder-only model, in tokens
  // Special tokens, if the tokenizer is not attnscope's own.
  std::int64_t padding_id = 0;
  std::int64_t start_id = 1;
  std::int64_t end_id = 2;
  std::int64_t unknown_id = 3;
  std::int64_t first_id = -1;                      // begins every output
  std::int64_t banned_id = -1;                     // never generated
  std::int64_t mask_id = -1;                       // masked-lm: hides a token
  bool ends_text = false;                          // language model: the end token ends the output, not a line
  std::optional<CapturedAttention> captured = {};  // replaces all of the above; not a field of config.json
  bool operator==(const ModelConfig&) const = default;

  bool is_capture() const { return captured.has_value(); }
  bool has_weights() const { return !captured || captured->sums_to_one; }  // attention is a distribution over the keys
  bool is_signed() const { return captured && captured->is_signed; }
  bool is_language_model() const { return architecture == "decoder-only"; }
  bool is_classifier() const { return architecture == "classifier"; }
  bool is_masked_lm() const { return architecture == "masked-lm"; }
  bool fills_masks() const { return is_masked_lm() && head == "tokens"; }
  bool reads_text() const { return is_language_model() || is_masked_lm(); }  // the corpus is running text, not pairs
  bool is_recurrent() const { return architecture == "recurrent" || (is_classifier() && reader == "recurrent"); }
  // The last state of a recurrent encoder represents the whole text; any other pooling is a weighted sum of states.
  bool pools_by_weights() const { return is_classifier() && !(is_recurrent() && pooling == "last"); }
  bool has_encoder() const { return !is_language_model(); }
  bool has_decoder() const { return !is_classifier() && !is_masked_lm(); }
  bool has_tied_output() const { return tied_embeddings && !is_classifier(); }
  bool has_one_embedding() const { return tied_embeddings || tied_inputs || !has_encoder() || !has_decoder(); }
  bool writing_ends() const { return !is_language_model() || ends_text; }  // at the end token
  bool is_gated() const { return activation == "swiglu" || activation.starts_with("geglu"); }
  bool has_norms() const { return norm_kind != "none"; }
  bool has_feed_forward() const { return d_ff > 0; }  // of a Transformer
  std::int64_t head_width() const { return d_head > 0 ? d_head : d_model / std::max<std::int64_t>(1, num_heads); }
  double scale_width() const { return score_width > 0 ? score_width : static_cast<double>(head_width()); }
  // The configuration as one layer of a stack sees it: with its number of heads, d_ff, window and base of RoPE.
  ModelConfig of_layer(bool decoder, std::int64_t layer) const;
  bool is_local(std::int64_t layer) const;  // has the window
  std::int64_t embedding_width() const { return d_embedding > 0 ? d_embedding : d_model; }
  std::int64_t key_heads() const { return num_kv_heads > 0 ? num_kv_heads : num_heads; }
  SpecialTokens special() const {
    return {static_cast<int>(padding_id),
            static_cast<int>(start_id),
            static_cast<int>(end_id),
            static_cast<int>(unknown_id),
            static_cast<int>(mask_id),
            static_cast<int>(first_id),
            has_decoder(),
            !ends_text};
  }
};

struct TrainingConfig {
  std::int64_t steps = 12000;     // optimizer steps until training stops
  std::int64_t batch_size = 64;   // sentence pairs (or windows of text) per batch
  std::int64_t batch_tokens = 0;  // instead of batch_size: maximum tokens per batch, counted on the longer side; 0: off
  std::string batch_order = "chance";   // "chance"; length bucketing by "source" or "both"
  std::int64_t accumulation_steps = 1;  // batches whose gradients are summed for one step
  std::string precision = "float32";    // of the matrix products: "float32" or "bfloat16"
  bool recompute = false;               // gradient checkpointing: the backward pass recomputes the layers (1604.06174)
  std::string optimizer = "adam";       // "adam" or "adamw"
  double beta2 = 0.98;                  // Adam's decay rate of the second moment (§5.3)
  double weight_decay = 0.1;            // AdamW, on matrices only
  std::string schedule = "noam";        // "noam", "cosine" or "constant", each after warm-up
  double noam_factor = 1.0;             // factor on the Noam schedule (§5.3)
  double learning_rate = 0.001;         // cosine, constant: the rate after warm-up
  double min_learning_rate = 0;         // cosine: the rate at the last step
  std::int64_t warmup_steps = 1000;     // steps until the schedule's peak (§5.3)
  double label_smoothing = 0.1;         // ε (§5.4)
  double teacher_forcing = 1;           // share of positions with the target token as decoder input
  double masked = 15;                   // masked-lm: percent of the tokens that are predicted (1810.04805 §3.1)
  bool whole_words = false;             // masked-lm: all tokens of a word are masked together
  double clip_norm = 1.0;               // maximum gradient norm; 0: no clipping
  std::int64_t validation_interval = 200;   // steps between two validations
  std::int64_t history_interval = 50;       // steps between two recordings of the pinned sentences
  std::int64_t checkpoint_interval = 1000;  // steps between two checkpoints of a run that has a folder
  bool keep_best = true;                    // also keep the weights of the step with the lowest validation loss
  std::int64_t patience = 0;                // validations without a lower loss after which training ends; 0: no limit
  std::int64_t kept_checkpoints = 0;        // number of older checkpoints retained in the run's folder, for averaging
  std::int64_t seed = 1;                    // weights, batch order and dropout
  std::string device = "auto";              // "auto", "cpu" or "cuda"
  std::int64_t threads = 0;                 // CPU threads; 0: all cores that this process may use
  bool operator==(const TrainingConfig&) const = default;
};

struct Config {
  CorpusConfig corpus;
  TokenizerConfig tokenizer;
  ModelConfig model;
  TrainingConfig training;
  bool operator==(const Config&) const = default;
};

// A value from a configuration file, --set or the setup column that cannot be used. The message names the field, the
// value and the allowed values.
class ConfigError : public Error {
 public:
  using Error::Error;
};

using FieldPointer = std::variant<std::int64_t*, double*, bool*, std::string*>;

// The allowed values of a field: numbers from min to max, one of the choices, or any text if there are no choices.
struct FieldLimits {
  double min = 0;
  double max = 0;
  std::string_view unit = {};  // "" if it has none
  std::vector<std::string_view> choices = {};
};

// One row of the table behind config.json, --set, the setup column and its tooltips.
struct ConfigField {
  std::string_view key;            // "model.d_model"; the part before the dot is the section
  FieldPointer (*value)(Config&);  // returns the field of a Config
  std::string_view label;          // shown in the setup column
  FieldLimits limits;
  std::string_view help;                  // effect, and reference to the paper
  bool (*used)(const Config&) = nullptr;  // returns true if the configuration uses the field; null: always used
  bool live = false;                      // takes effect while training; otherwise only by Reset
};

// Every field, section by section, in display order.
std::span<const ConfigField> config_fields();

// Returns the field named `key`; throws ConfigError with the nearest names if there is none.
const ConfigField& config_field(std::string_view key);

// Parses `text` as the field's type and stores it; throws ConfigError if it is malformed or out of range.
void set_field(Config& config, std::string_view key, std::string_view text);

// Returns the field's value in the form that set_field reads.
std::string field_text(const Config& config, const ConfigField& field);

// Returns true if the configuration uses the field: a recurrent model has no heads.
bool is_used(const Config& config, const ConfigField& field);

// Throws ConfigError at the first value out of range, and if d_model is odd or not divisible by num_heads.
void check(const Config& config);

// {"version":4,"corpus":{…},"tokenizer":{…},"model":{…},"training":{…}}
nlohmann::json to_json(const Config& config);

// Absent fields get their defaults; throws on unknown fields, wrong types, values out of range and unknown versions.
// Version 3 is read with corpus.normalize off.
Config config_from_json(const nlohmann::json& json);

// Returns `base` with every live field taken from `edited`.
Config with_live_fields(const Config& base, const Config& edited);

}  // namespace attnscope
