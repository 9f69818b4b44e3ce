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

constexpr int config_version = 3;

bool counts_pieces(const Config& config) {
  return config.tokenizer.type != "char";
}
bool has_encoder(const Config& config) {
  return config.model.has_encoder();
}
bool has_decoder(const Config& config) {
  return config.model.has_decoder();
}
bool is_taught(const Config& config) {
  return has_encoder(config) && has_decoder(config);
}
bool is_classifier(const Config& config) {
  return config.model.is_classifier();
}
bool reads_english_french(const Config& config) {
  return config.corpus.source == "english-french";
}
bool is_transformer(const Config& config) {
  return !config.model.is_recurrent();
}
bool is_recurrent(const Config& config) {
  return config.model.is_recurrent();
}
bool attends_by_state(const Config& config) {
  return is_recurrent(config) && has_decoder(config);
}
bool uses_relative_vectors(const Config& config) {
  return is_transformer(config) && position_scheme(config.model.positions).form == PositionForm::vectors;
}
bool uses_rope(const Config& config) {
  return is_transformer(config) && position_scheme(config.model.positions).form == PositionForm::rotation;
}
bool has_separate_matrices(const Config& config) {
  return is_taught(config) && !config.model.tied_embeddings;
}
// Facts about a vocabulary that came with a checkpoint: nothing to be chosen.
bool has_own_pieces(const Config& config) {
  return config.tokenizer.family != "sentencepiece";
}
// A fact about the corpus.
bool is_for_show(const Config&) {
  return false;
}
bool may_end(const Config& config) {
  return has_own_pieces(config) && !has_encoder(config);
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

// Its key and where it stands in a Config.
#define ATTNSCOPE_FIELD(member) #member, +[](Config & config) -> FieldPointer { return &config.member; }

constexpr bool (*always)(const Config&) = nullptr;
constexpr bool live = true;

FieldLimits range(double min, double max, std::string_view unit = "") {
  return {min, max, unit, {}};
}

FieldLimits one_of(std::vector<std::string_view> choices) {
  return {0, 0, "", std::move(choices)};
}

const FieldLimits any_text;
const FieldLimits yes_or_no = range(0, 1);
const FieldLimits any_piece = range(-1, 1000000);

const std::vector<ConfigField>& field_table() {
  static const std::vector<ConfigField> fields = {
      {ATTNSCOPE_FIELD(corpus.source), "corpus", any_text,
       "a built-in corpus, a file of pairs (a line: source, tab, target), or the source side of two parallel files; "
       "for a decoder-only model any text file"},
      {ATTNSCOPE_FIELD(corpus.target), "target file", any_text,
       "the target side of two parallel files; empty for a built-in corpus or a file of pairs", has_encoder},
      {ATTNSCOPE_FIELD(corpus.seed), "seed", range(0, 4294967295.0),
       "decides the generated sentences and the split into training, validation and test"},
      {ATTNSCOPE_FIELD(corpus.edition), "edition", range(1, 6),
       "of the built-in English–French corpus. The second also says what belongs to kinds of people (the king's "
       "palace, le palais royal), which analogies need. The third gives other people's reasons too (because she was "
       "happy), and says less of “it” that agrees in French: the model learns sooner whom “it” means, and keeps it at "
       "“it”. In the fourth it may rain, and the tired animal does not cross the street because it was wide: what is "
       "said of “it” has to be known before a noun is looked for. In the fifth others may be tired besides, so that "
       "what is said last need not be said of “it”. Runs go on with theirs",
       reads_english_french},
      {ATTNSCOPE_FIELD(corpus.separator), "separator", any_text,
       "what stands between source and target on a line of a pairs file; empty: a tab", has_encoder},
      {ATTNSCOPE_FIELD(corpus.lowercase), "small letters", yes_or_no,
       "a file's text is read in small letters, source and target; built-in corpora stay as they are"},
      {ATTNSCOPE_FIELD(corpus.held_out), "held out", range(0.1, 40, "%"),
       "of the sentences in a pairs file: this share for validation, and as many again for the test", has_encoder},
      {ATTNSCOPE_FIELD(tokenizer.type), "type", one_of({"bpe", "unigram", "char"}),
       "how SentencePiece finds its pieces: byte-pair encoding, a unigram language model, or single characters"},
      {ATTNSCOPE_FIELD(tokenizer.vocab_size), "vocabulary", range(16, 1000000, "pieces"),
       "pieces shared by source and target, at most: a small corpus gives fewer", counts_pieces},
      {ATTNSCOPE_FIELD(tokenizer.path), "load from", any_text,
       "a trained SentencePiece model to use; empty: train one on the corpus"},
      {ATTNSCOPE_FIELD(tokenizer.family), "files of", one_of({"sentencepiece", "marian", "t5", "gpt2", "llama"}),
       "sentencepiece: one model, trained here; otherwise the files of a checkpoint of that family, with which it came",
       has_own_pieces},
      {ATTNSCOPE_FIELD(model.architecture), "architecture",
       one_of({"encoder-decoder", "decoder-only", "recurrent", "classifier"}),
       "the Transformer that translates (paper §3.1), the decoder alone as a language model, the recurrent networks "
       "that came before, or an encoder of either kind that gives a text one of the labels of its corpus (a line: "
       "text, tab, label)"},
      {ATTNSCOPE_FIELD(model.reader), "reader", one_of({"transformer", "recurrent"}),
       "what reads the text to be classified: a Transformer's encoder, or a recurrent network", is_classifier},
      {ATTNSCOPE_FIELD(model.pooling), "pooling", one_of({"attention", "mean", "first", "last"}),
       "many to one: what is made of the states of all pieces. attention: a weighted sum, its weights learned (Yang et "
       "al. 2016); mean: all alike; first: the first piece's alone; last: that of the end piece, which is a recurrent "
       "network's last state",
       is_classifier},
      {ATTNSCOPE_FIELD(model.num_classes), "classes", range(0, 1000000), "labels of the corpus that was read",
       is_for_show},
      {ATTNSCOPE_FIELD(model.cell), "cell", one_of({"rnn", "lstm", "gru"}),
       "what carries the sentence from token to token: an Elman RNN, an LSTM (Hochreiter & Schmidhuber 1997) or a GRU "
       "(arXiv 1406.1078)",
       is_recurrent},
      {ATTNSCOPE_FIELD(model.attention), "attention",
       one_of({"none", "bahdanau", "luong-dot", "luong-general", "luong-concat"}),
       "none: the whole sentence must fit the encoder's last state (arXiv 1409.3215); Bahdanau's additive attention "
       "(1409.0473 A.1.2); Luong's three scores (1508.04025 §3.1)",
       attends_by_state},
      {ATTNSCOPE_FIELD(model.bidirectional), "both ways", yes_or_no,
       "the encoder reads the source from both ends, half of d_model each (1409.0473 §3.2)", is_recurrent},
      {ATTNSCOPE_FIELD(model.d_model), "d_model", range(8, 8192),
       "width of every vector between layers (paper §3.1); even, and divisible by num_heads"},
      {ATTNSCOPE_FIELD(model.num_heads), "num_heads", range(1, 128),
       "attention heads in every layer, each of width d_k = d_v = d_model / num_heads (paper §3.2.2)", is_transformer},
      {ATTNSCOPE_FIELD(model.num_kv_heads), "key heads", range(0, 128),
       "heads of keys and values, each shared by num_heads / key heads queries' heads (grouped-query attention, "
       "2305.13245); 0: as many as num_heads",
       is_transformer},
      {ATTNSCOPE_FIELD(model.d_head), "d_k", range(0, 1024), "width of a head; 0: d_model / num_heads", is_transformer},
      {ATTNSCOPE_FIELD(model.num_encoder_layers), "encoder layers", range(1, 64),
       "layers that read the source (paper §3.1)", has_encoder},
      {ATTNSCOPE_FIELD(model.num_decoder_layers), "decoder layers", range(1, 64),
       "layers that write the target (paper §3.1). With one, what “it” stands for has to be found by the encoder; a "
       "language model, which has no other layers, wants two or more",
       has_decoder},
      {ATTNSCOPE_FIELD(model.d_ff), "d_ff", range(8, 32768),
       "inner width of the position-wise feed-forward sublayer (paper §3.3, where it is 4 × d_model). A narrow one "
       "leaves "
       "more to attention",
       is_transformer},
      {ATTNSCOPE_FIELD(model.initialization), "first weights", one_of({"xavier", "unit"}),
       "xavier: embeddings, learned positions and W_Q, W_K, W_V as one matrix are drawn by Xavier's rule, as PyTorch's "
       "MultiheadAttention is: they begin small, so that what the layers add counts from the first update on. unit: "
       "embeddings times √d_model begin with variance 1, W_Q, W_K, W_V with Xavier's rule each; learns later",
       is_transformer},
      {ATTNSCOPE_FIELD(model.norm), "layer norm", one_of({"post", "pre"}),
       "post: LayerNorm(x + Sublayer(x)) (paper §3.1); pre: x + Sublayer(LayerNorm(x)), which trains without warm-up "
       "(arXiv 2002.04745)",
       is_transformer},
      {ATTNSCOPE_FIELD(model.norm_kind), "norm", one_of({"layer", "rms"}),
       "layer: minus the mean, over the deviation (arXiv 1607.06450); rms: over the root mean square alone, without "
       "shift (1910.07467)",
       is_transformer},
      {ATTNSCOPE_FIELD(model.norm_epsilon), "norm ε", range(1e-12, 0.1), "added to the variance before its root",
       is_transformer},
      {ATTNSCOPE_FIELD(model.final_norm), "last norm", yes_or_no, "one more norm after the last layer of a stack",
       is_transformer},
      {ATTNSCOPE_FIELD(model.activation), "activation",
       one_of({"relu", "gelu", "gelu-tanh", "swish", "swiglu", "geglu"}),
       "between the two matrices of the feed-forward sublayer: ReLU (paper §3.3), GELU (arXiv 1606.08415), its "
       "approximation by tanh, or swish (1710.05941); swiglu and geglu have a third matrix, whose product gates the "
       "activation of the first (2002.05202)",
       is_transformer},
      {ATTNSCOPE_FIELD(model.biases), "biases", yes_or_no, "the linear maps inside the layers have biases",
       is_transformer},
      {ATTNSCOPE_FIELD(model.positions), "positions", one_of(position_names()), positions_help(), is_transformer},
      {ATTNSCOPE_FIELD(model.max_distance), "farthest distance", range(1, 1024, "pieces"),
       "keys farther than this from their query share one relative vector (1803.02155 §3.2)", uses_relative_vectors},
      {ATTNSCOPE_FIELD(model.rope_theta), "RoPE base", range(1, 1e9),
       "wavelengths of the rotations go up to 2π times this (2104.09864 §3.2.2)", uses_rope},
      {ATTNSCOPE_FIELD(model.scaled_attention), "divide by √d_k", yes_or_no,
       "scores are divided by √d_k before the softmax (paper §3.2.1); without, it saturates", is_transformer},
      {ATTNSCOPE_FIELD(model.dropout), "dropout", range(0, 0.9),
       "share of activations set to zero while training: sublayer outputs, attention weights, embeddings (paper §5.4)",
       always, live},
      {ATTNSCOPE_FIELD(model.tied_embeddings), "tied embeddings", yes_or_no,
       "source embedding, target embedding and output matrix are one matrix (paper §3.4)", has_decoder},
      {ATTNSCOPE_FIELD(model.tied_inputs), "tied inputs", yes_or_no,
       "source and target embedding are one matrix, beside an output matrix of its own", has_separate_matrices},
      {ATTNSCOPE_FIELD(model.scaled_embeddings), "embeddings × √d", yes_or_no,
       "embeddings are multiplied by √d_model (paper §3.4)", is_transformer},
      {ATTNSCOPE_FIELD(model.scaled_output), "output ÷ √d", yes_or_no,
       "what the output matrix is given is divided by √d_model, as T5 does where it is the embedding", is_transformer},
      {ATTNSCOPE_FIELD(model.output_bias), "output bias", yes_or_no,
       "a learned number a piece, or label, added to its logit"},
      {ATTNSCOPE_FIELD(model.max_length), "longest sentence", range(8, 4096, "pieces"),
       "longer pairs are left out of training, longer typed sentences are cut; for a decoder-only model the context"},
      {ATTNSCOPE_FIELD(model.padding_id), "padding piece", any_piece, "fills rows of a batch; −1: none",
       has_own_pieces},
      {ATTNSCOPE_FIELD(model.start_id), "start piece", any_piece, "what the decoder begins with", has_own_pieces},
      {ATTNSCOPE_FIELD(model.end_id), "end piece", any_piece, "what ends a sentence", has_own_pieces},
      {ATTNSCOPE_FIELD(model.unknown_id), "unknown piece", any_piece,
       "what stands for text that has no piece; −1: none", has_own_pieces},
      {ATTNSCOPE_FIELD(model.banned_id), "banned piece", any_piece, "never written; −1: none", has_own_pieces},
      {ATTNSCOPE_FIELD(model.ends_text), "ends", yes_or_no,
       "the end piece ends what is written; otherwise it is the end of a line", may_end},
      {ATTNSCOPE_FIELD(model.from), "begin with", any_text,
       "the folder of a run, or of another program's checkpoint, whose weights and tokenizer the model begins with, to "
       "be trained on: what it is made of is then as there. Empty: random weights"},
      {ATTNSCOPE_FIELD(training.steps), "steps", range(1, 10000000, "updates"),
       "optimizer updates after which training stops by itself", always, live},
      {ATTNSCOPE_FIELD(training.batch_size), "batch size", range(1, 4096, "pairs"),
       "sentence pairs a batch; windows of text for a decoder-only model", counts_pairs},
      {ATTNSCOPE_FIELD(training.batch_tokens), "batch in pieces", range(0, 1000000, "pieces"),
       "a batch takes as many pairs as fit so many pieces of the longer side, padding included; 0: "
       "batch size decides",
       has_encoder},
      {ATTNSCOPE_FIELD(training.batch_order), "pairs together", one_of({"chance", "source", "both"}),
       "which pairs share a batch. chance: any, from which a model learns soonest; source: of about the same source "
       "length; both: of the same source and target length, which pads least, but such pairs are often alike. While a "
       "Transformer trains on a CPU, padding costs nothing; recurrent networks and GPUs compute it",
       has_encoder},
      {ATTNSCOPE_FIELD(training.accumulation_steps), "accumulation", range(1, 256, "batches"),
       "batches whose gradients are summed before one update: a larger batch in the same memory"},
      {ATTNSCOPE_FIELD(training.precision), "precision", one_of({"float32", "bfloat16"}),
       "of the products of matrices while training. bfloat16: what is multiplied is rounded to 8 significant bits, and "
       "summed in float32; weights, gradients and their moments stay float32 (arXiv 1710.03740, 1905.12322). For "
       "processors and GPUs that multiply such numbers"},
      {ATTNSCOPE_FIELD(training.recompute), "recompute layers", yes_or_no,
       "of every layer only the input is kept, and the backward pass runs it again: the same gradients in less memory "
       "and more time (gradient checkpointing, arXiv 1604.06174)",
       is_transformer},
      {ATTNSCOPE_FIELD(training.optimizer), "optimizer", one_of({"adam", "adamw"}),
       "Adam (arXiv 1412.6980), or AdamW, which shrinks the matrices a little at every update (1711.05101)"},
      {ATTNSCOPE_FIELD(training.weight_decay), "weight decay", range(0, 1),
       "AdamW: matrices lose this share, times the learning rate, at every update; biases and gains do not", uses_adamw,
       live},
      {ATTNSCOPE_FIELD(training.beta2), "Adam β2", range(0.5, 0.9999),
       "decay of the mean squared gradient (paper §5.3: 0.98)"},
      {ATTNSCOPE_FIELD(training.schedule), "schedule", one_of({"noam", "cosine", "constant"}),
       "the learning rate after its warm-up: Noam falls with step^-0.5 (paper §5.3), cosine falls to its minimum at "
       "the last step, constant stays"},
      {ATTNSCOPE_FIELD(training.noam_factor), "Noam factor", range(0.001, 100, "× Noam"),
       "factor on the Noam schedule d_model^-0.5 · min(step^-0.5, step · warmup^-1.5) (paper §5.3)", uses_noam, live},
      {ATTNSCOPE_FIELD(training.learning_rate), "learning rate", range(0.000001, 10),
       "the rate at the end of the warm-up", uses_plain_rate, live},
      {ATTNSCOPE_FIELD(training.min_learning_rate), "lowest rate", range(0, 10),
       "what the cosine reaches at the last step", uses_cosine, live},
      {ATTNSCOPE_FIELD(training.warmup_steps), "warm-up", range(1, 1000000, "updates"),
       "updates until the learning rate reaches its peak (paper §5.3)"},
      {ATTNSCOPE_FIELD(training.label_smoothing), "label smoothing", range(0, 0.9),
       "share of the target probability spread over the whole vocabulary (paper §5.4)", always, live},
      {ATTNSCOPE_FIELD(training.teacher_forcing), "teacher forcing", range(0, 1),
       "share of positions at which the decoder, while it trains, is told the target's piece; at the others it goes on "
       "from what it wrote itself, as when it translates (arXiv 1506.03099), which takes longer",
       is_taught, live},
      {ATTNSCOPE_FIELD(training.clip_norm), "gradient clipping", range(0, 1000),
       "longer gradients are scaled down to this norm; 0 turns clipping off", always, live},
      {ATTNSCOPE_FIELD(training.validation_interval), "validate every", range(1, 1000000, "updates"),
       "updates between two validations"},
      {ATTNSCOPE_FIELD(training.history_interval), "look every", range(1, 1000000, "updates"),
       "updates between two looks at the pinned sentences", always, live},
      {ATTNSCOPE_FIELD(training.checkpoint_interval), "save every", range(1, 1000000, "updates"),
       "updates between two checkpoints of a run that has a folder"},
      {ATTNSCOPE_FIELD(training.kept_checkpoints), "keep", range(0, 100, "checkpoints"),
       "weights of this many checkpoints stay in the run's folder, so that their mean can be used (paper §6.1)"},
      {ATTNSCOPE_FIELD(training.seed), "seed", range(0, 4294967295.0),
       "decides initial weights, batch order and dropout; the same seed gives the same losses on a CPU"},
      {ATTNSCOPE_FIELD(training.device), "device", one_of({"auto", "cpu", "cuda"}),
       "where the model computes; auto takes CUDA when there is one"},
      {ATTNSCOPE_FIELD(training.threads), "CPU threads", range(0, 256), "0: all cores", always, live},
  };
  return fields;
}

#undef ATTNSCOPE_FIELD

FieldPointer pointer(const Config& config, const ConfigField& field) {
  return field.value(const_cast<Config&>(config));  // callers only read through it
}

std::string range_text(const ConfigField& field) {
  return fmt::format("{} to {}{}{}", field.limits.min, field.limits.max, field.limits.unit.empty() ? "" : " ",
                     field.limits.unit);
}

void check_range(const ConfigField& field, double value) {
  if (!std::isfinite(value) || value < field.limits.min || value > field.limits.max) {
    throw ConfigError(fmt::format("{} is {}, allowed: {}", field.key, value, range_text(field)));
  }
}

void check_choice(const ConfigField& field, const std::string& value) {
  const auto& choices = field.limits.choices;
  if (!choices.empty() && std::ranges::find(choices, value) == choices.end())
    throw ConfigError(fmt::format("{} is \"{}\", allowed: {}", field.key, value, fmt::join(choices, ", ")));
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
  const auto& fields = field_table();
  const auto found = std::ranges::find(fields, key, &ConfigField::key);
  return found == fields.end() ? nullptr : &*found;
}

// The fields of that name in any section; failing that, those of that section; failing that, all.
std::vector<std::string_view> nearest_keys(std::string_view key) {
  const std::string_view key_section = key.substr(0, key.find('.'));
  const std::string_view key_name = key.substr(key.rfind('.') + 1);  // all of it when there is no dot: npos + 1 is 0
  std::vector<std::string_view> same_name;
  std::vector<std::string_view> same_section;
  std::vector<std::string_view> all;
  for (const ConfigField& field : field_table()) {
    if (name(field) == key_name) same_name.push_back(field.key);
    if (section(field) == key_section) same_section.push_back(field.key);
    all.push_back(field.key);
  }
  if (!same_name.empty()) return same_name;
  return same_section.empty() ? all : same_section;
}

// What the versions before 3 began with: their runs go on with the batches they would have had.
Config config_before_version_3() {
  Config config;
  config.corpus.edition = 1;
  config.model.initialization = "unit";
  config.model.num_heads = 4;
  config.model.num_decoder_layers = 2;
  config.model.d_ff = 512;
  config.model.positions = "sinusoidal";
  config.training.batch_order = "both";
  config.training.warmup_steps = 1000;
  return config;
}

// Version 1 knew one schedule, and called its factor the learning rate.
std::string key_since_version_2(const std::string& key) {
  return key == "training.learning_rate" ? "training.noam_factor" : key;
}

bool is_section(std::string_view text) {
  return std::any_of(field_table().begin(), field_table().end(),
                     [&](const ConfigField& field) { return section(field) == text; });
}

}  // namespace

std::span<const ConfigField> config_fields() {
  return field_table();
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
  for (const ConfigField& field : field_table()) check_field(config, field);
  const ModelConfig& model = config.model;
  if (model.d_model % 2 != 0)
    throw ConfigError(fmt::format("model.d_model is {}, allowed: even numbers", model.d_model));
  if (is_recurrent(config)) return;
  if (model.d_head == 0 && model.d_model % model.num_heads != 0) {
    throw ConfigError(
        fmt::format("model.num_heads is {}, allowed: divisors of model.d_model, {}", model.num_heads, model.d_model));
  }
  if (model.num_heads % model.key_heads() != 0) {
    throw ConfigError(fmt::format("model.num_kv_heads is {}, allowed: divisors of model.num_heads, {}",
                                  model.num_kv_heads, model.num_heads));
  }
  const PositionScheme& positions = position_scheme(model.positions);
  if (positions.form == PositionForm::rotation && model.head_width() % 2 != 0) {
    throw ConfigError(fmt::format("model.num_heads is {}, allowed with {}: an even width d_model / num_heads, not {}",
                                  model.num_heads, positions.name, model.head_width()));
  }
}

nlohmann::json to_json(const Config& config) {
  nlohmann::json json = {{"version", config_version}};
  for (const ConfigField& field : field_table()) {
    std::visit([&](auto* value) { json[section(field)][name(field)] = *value; }, pointer(config, field));
  }
  return json;
}

Config config_from_json(const nlohmann::json& json) {
  if (!json.is_object()) throw ConfigError("a configuration is a JSON object");
  const nlohmann::json version = json.value("version", nlohmann::json());
  if (version != config_version && version != 2 && version != 1) {
    throw ConfigError(fmt::format("version is {}, allowed: 1, 2, {}", version.dump(), config_version));
  }
  Config config = version == config_version ? Config() : config_before_version_3();
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

// As it is: what is being edited may be out of its range.
Config with_live_fields(const Config& base, const Config& edited) {
  Config merged = base;
  for (const ConfigField& field : field_table()) {
    if (!field.live) continue;
    std::visit([&](auto* value) { *value = *std::get<decltype(value)>(pointer(edited, field)); }, field.value(merged));
  }
  return merged;
}

}  // namespace attnscope
