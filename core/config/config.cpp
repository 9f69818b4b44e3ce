#include "config/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/edit_distance.h"
#include "config/position_schemes.h"
#include "config/rope_scaling.h"

namespace attnscope {
namespace {

constexpr int config_version = 4;
constexpr int version_without_normalize = 3;  // texts were read as they were: corpus.normalize is off

bool counts_tokens(const Config& config) {
  return config.tokenizer.type != "char" && config.tokenizer.type != "word";
}
bool has_encoder(const Config& config) {
  return config.model.has_encoder();
}
bool reads_pairs(const Config& config) {
  return !config.model.reads_text();
}
bool has_decoder(const Config& config) {
  return config.model.has_decoder();
}
bool predicts_tokens(const Config& config) {
  return !config.model.is_classifier();
}
bool is_taught(const Config& config) {
  return has_encoder(config) && has_decoder(config);
}
bool is_classifier(const Config& config) {
  return config.model.is_classifier();
}
bool is_masked_lm(const Config& config) {
  return config.model.is_masked_lm();
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
bool has_window(const Config& config) {
  return is_transformer(config) && config.model.window > 0;
}
bool is_pre_norm(const Config& config) {
  return is_transformer(config) && config.model.norm == "pre";
}
bool uses_rope(const Config& config) {
  return is_transformer(config) && position_scheme(config.model.positions).form == PositionForm::rotation;
}
bool has_local_rope(const Config& config) {
  return uses_rope(config) && config.model.window > 0;
}
bool has_two_stacks(const Config& config) {
  return is_transformer(config) && is_taught(config);
}
bool has_separate_matrices(const Config& config) {
  return is_taught(config) && !config.model.tied_embeddings;
}
// Facts about a vocabulary that came with a checkpoint cannot be chosen.
bool has_own_vocabulary(const Config& config) {
  return config.tokenizer.family != "sentencepiece";
}
// Facts about a checkpoint's encoder.
bool has_foreign_encoder(const Config& config) {
  return is_masked_lm(config) && has_own_vocabulary(config);
}
// A fact about the corpus, shown but not chosen.
bool is_for_show(const Config&) {
  return false;
}
bool may_end(const Config& config) {
  return has_own_vocabulary(config) && !has_encoder(config);
}
bool has_norms(const Config& config) {
  return is_transformer(config) && config.model.has_norms();
}
bool is_scaled(const Config& config) {
  return is_transformer(config) && config.model.scaled_attention;
}
bool has_feed_forward(const Config& config) {
  return is_transformer(config) && config.model.has_feed_forward();
}
bool is_modular(const Config& config) {
  return config.corpus.source == "modular";
}
bool uses_modulus(const Config& config) {
  return is_modular(config) || config.corpus.source == "rules";
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
  return config.training.batch_tokens == 0 || !reads_pairs(config);
}

std::vector<std::string_view> position_names() {
  std::vector<std::string_view> names;
  for (const PositionScheme& scheme : position_schemes()) names.push_back(scheme.name);
  return names;
}

std::string_view positions_help() {
  static const std::string help = [] {
    std::string text = "How self-attention encodes token positions. ";
    for (const PositionScheme& scheme : position_schemes()) text += fmt::format("{}: {}; ", scheme.name, scheme.tells);
    return text + "cross-attention sees only the encodings that are added to the embeddings";
  }();
  return help;
}

// The key of a field and its accessor in a Config.
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
const FieldLimits any_token = range(-1, 1000000);

const std::vector<ConfigField>& field_table() {
  static const std::vector<ConfigField> fields = {
      {ATTNSCOPE_FIELD(corpus.source), "Corpus", any_text,
       "Built-in corpus, file of pairs (one per line: source, tab, target), or source side of two parallel files; any "
       "text file for a decoder-only model"},
      {ATTNSCOPE_FIELD(corpus.target), "Target file", any_text,
       "Target side of two parallel files; empty for a built-in corpus or a file of pairs", reads_pairs},
      {ATTNSCOPE_FIELD(corpus.seed), "Seed", range(0, 4294967295.0),
       "Seed of the generated sentences and of the split into training, validation and test"},
      {ATTNSCOPE_FIELD(corpus.separator), "Separator", any_text,
       "Text between source and target on each line of a file of pairs; empty: a tab", reads_pairs},
      {ATTNSCOPE_FIELD(corpus.lowercase), "Lowercase", yes_or_no,
       "Convert the text of a file to lowercase, source and target; built-in corpora are not changed"},
      {ATTNSCOPE_FIELD(corpus.normalize), "Normalize text", yes_or_no,
       "Read a file's text, and what is typed, in the composed Unicode form (NFC: é is one character), and every kind "
       "of space as a plain one; built-in corpora are not changed"},
      {ATTNSCOPE_FIELD(corpus.held_out), "Held-out split (%)", range(0.1, 40, "%"),
       "Share of the pairs in a file, or of modular's sums, reserved for validation; the same share is reserved for "
       "the "
       "test",
       reads_pairs},
      {ATTNSCOPE_FIELD(corpus.modulus), "Modulus p", range(2, 251),
       "Corpora modular and rules: the results are computed modulo p; *, / and rules need a prime", uses_modulus},
      {ATTNSCOPE_FIELD(corpus.operation), "Operation", one_of({"+", "-", "*", "/", "x^2+y^2"}),
       "Corpus modular: how the two numbers are combined", is_modular},
      {ATTNSCOPE_FIELD(tokenizer.type), "Type", one_of({"bpe", "unigram", "char", "word"}),
       "How SentencePiece builds the vocabulary: byte-pair encoding, a unigram language model, single characters, or "
       "whole words"},
      {ATTNSCOPE_FIELD(tokenizer.vocab_size), "Vocabulary size", range(16, 1000000, "tokens"),
       "Maximum number of tokens, shared by source and target; a small corpus yields fewer", counts_tokens},
      {ATTNSCOPE_FIELD(tokenizer.path), "Load from", any_text,
       "Path of a trained SentencePiece model; empty: train one on the corpus"},
      {ATTNSCOPE_FIELD(tokenizer.family), "Tokenizer family",
       one_of({"sentencepiece", "marian", "t5", "gpt2", "llama", "bert", "xlm-roberta", "albert", "m2m_100", "json"}),
       "File format of the tokenizer. sentencepiece: one model, trained here; any other: the files that came with a "
       "checkpoint of that family",
       has_own_vocabulary},
      {ATTNSCOPE_FIELD(model.architecture), "Architecture",
       one_of({"encoder-decoder", "decoder-only", "masked-lm", "recurrent", "classifier"}),
       "Encoder-decoder: the Transformer for translation (paper §3.1). Decoder-only: a language model. Masked-lm: an "
       "encoder that predicts masked tokens from both sides (BERT, 1810.04805). Recurrent: the RNN encoder-decoders "
       "that came before. Classifier: an encoder that predicts the label of a text (one per line: "
       "text, tab, label)"},
      {ATTNSCOPE_FIELD(model.reader), "Encoder type", one_of({"transformer", "recurrent"}),
       "Encoder of the classifier: a Transformer encoder or a recurrent network", is_classifier},
      {ATTNSCOPE_FIELD(model.pooling), "Pooling", one_of({"attention", "mean", "first", "last"}),
       "How the classifier pools the states of all tokens into one vector. attention: sum with learned weights (Yang "
       "et al. 2016); mean: average; first: state of the first token; last: state of the end token, the last state of "
       "a recurrent network",
       is_classifier},
      {ATTNSCOPE_FIELD(model.num_classes), "Classes", range(0, 1000000), "Number of labels in the corpus that was read",
       is_for_show},
      {ATTNSCOPE_FIELD(model.cell), "Cell", one_of({"rnn", "lstm", "gru"}),
       "Recurrent cell, which carries the state from token to token: an Elman RNN, an LSTM (Hochreiter & Schmidhuber "
       "1997) or a GRU (arXiv 1406.1078)",
       is_recurrent},
      {ATTNSCOPE_FIELD(model.attention), "Attention",
       one_of({"none", "bahdanau", "luong-dot", "luong-general", "luong-concat"}),
       "Attention over the encoder states. none: the decoder gets only the encoder's last state (arXiv 1409.3215); "
       "bahdanau: additive attention (1409.0473 A.1.2); luong-…: one of Luong's three scores (1508.04025 §3.1)",
       attends_by_state},
      {ATTNSCOPE_FIELD(model.bidirectional), "Bidirectional encoder", yes_or_no,
       "The encoder reads the source in both directions, with d_model / 2 units each (1409.0473 §3.2)", is_recurrent},
      {ATTNSCOPE_FIELD(model.d_model), "d_model", range(8, 8192),
       "Width of every vector between layers (paper §3.1); must be even and divisible by num_heads"},
      {ATTNSCOPE_FIELD(model.num_heads), "num_heads", range(1, 128),
       "Number of attention heads per layer, each of width d_k = d_v = d_model / num_heads (paper §3.2.2)",
       is_transformer},
      {ATTNSCOPE_FIELD(model.num_kv_heads), "Key/value heads", range(0, 128),
       "Number of key and value heads, each shared by a group of query heads (grouped-query attention, 2305.13245); 0: "
       "as many as num_heads",
       is_transformer},
      {ATTNSCOPE_FIELD(model.num_decoder_heads), "Decoder heads", range(0, 128),
       "Number of attention heads per decoder layer; 0: num_heads", has_two_stacks},
      {ATTNSCOPE_FIELD(model.d_head), "d_k", range(0, 1024), "Width of one head; 0: d_model / num_heads",
       is_transformer},
      {ATTNSCOPE_FIELD(model.layer_groups), "Layer groups", range(0, 64),
       "Number of encoder layers that have weights of their own; the layers are divided evenly among them (ALBERT, "
       "1909.11942 §3.1); 0: every layer",
       is_masked_lm},
      {ATTNSCOPE_FIELD(model.num_encoder_layers), "Encoder layers", range(1, 64),
       "Number of encoder layers, which read the source (paper §3.1)", has_encoder},
      {ATTNSCOPE_FIELD(model.num_decoder_layers), "Decoder layers", range(1, 64),
       "Number of decoder layers, which generate the target (paper §3.1). With only one, the encoder has to resolve "
       "“it”. A language model has no other layers and needs two or more",
       has_decoder},
      {ATTNSCOPE_FIELD(model.d_ff), "d_ff", range(0, 32768),
       "Inner width of the position-wise feed-forward sublayer (paper §3.3, where it is 4 × d_model). A smaller value "
       "leaves more of the work to attention; 0: an attention-only Transformer, without feed-forward sublayers",
       is_transformer},
      {ATTNSCOPE_FIELD(model.decoder_d_ff), "Decoder d_ff", range(0, 32768),
       "Inner width of the decoder's feed-forward sublayers; 0: d_ff", has_two_stacks},
      {ATTNSCOPE_FIELD(model.initialization), "Initialization", one_of({"xavier", "unit"}),
       "xavier: Xavier-uniform for the embeddings, learned positions and the stacked W_Q, W_K, W_V, as in PyTorch's "
       "MultiheadAttention; embeddings start small, so the layers matter from the first step. unit: scaled embeddings "
       "start with variance 1, and W_Q, W_K, W_V are initialized separately; learns later",
       is_transformer},
      {ATTNSCOPE_FIELD(model.norm), "Layer norm", one_of({"post", "pre"}),
       "post: LayerNorm(x + Sublayer(x)) (paper §3.1); pre: x + Sublayer(LayerNorm(x)), which trains without warm-up "
       "(arXiv 2002.04745)",
       has_norms},
      {ATTNSCOPE_FIELD(model.norm_kind), "Norm type", one_of({"layer", "rms", "none"}),
       "layer: subtract the mean and divide by the standard deviation (arXiv 1607.06450); rms: only divide by the root "
       "mean square, without a shift (1910.07467); none: no norms, so that the layers are easier to analyze",
       is_transformer},
      {ATTNSCOPE_FIELD(model.norm_epsilon), "Norm ε", range(1e-12, 0.1),
       "Added to the variance before the square root is taken", has_norms},
      {ATTNSCOPE_FIELD(model.final_norm), "Final layer norm", yes_or_no,
       "One more layer norm after the last layer of the encoder and of the decoder", has_norms},
      {ATTNSCOPE_FIELD(model.output_norms), "Output norms", yes_or_no,
       "Also normalize the output of every sublayer before it is added to the residual stream (Gemma 2, 2408.00118 "
       "§2)",
       is_pre_norm},
      {ATTNSCOPE_FIELD(model.parallel_sublayers), "Parallel sublayers", yes_or_no,
       "Attention and feed-forward read the same residual stream, and both outputs are added to it (GPT-NeoX, "
       "2204.06745 §2.1)",
       is_pre_norm},
      {ATTNSCOPE_FIELD(model.activation), "Activation",
       one_of({"relu", "gelu", "gelu-tanh", "swish", "swiglu", "geglu", "geglu-erf"}),
       "Activation function of the feed-forward sublayer: ReLU (paper §3.3), GELU (arXiv 1606.08415), its tanh "
       "approximation, or swish (1710.05941). swiglu and geglu add a third matrix, whose output multiplies the "
       "activation as a gate (2002.05202); geglu uses the tanh approximation, as T5 does, geglu-erf the exact GELU",
       has_feed_forward},
      {ATTNSCOPE_FIELD(model.biases), "Biases", yes_or_no, "Biases in the linear maps of the layers", is_transformer},
      {ATTNSCOPE_FIELD(model.positions), "Positions", one_of(position_names()), positions_help(), is_transformer},
      {ATTNSCOPE_FIELD(model.max_distance), "Max relative distance", range(1, 1024, "tokens"),
       "Clipping distance: keys farther from the query than this share one relative vector (1803.02155 §3.2)",
       uses_relative_vectors},
      {ATTNSCOPE_FIELD(model.rope_theta), "RoPE base", range(1, 1e9),
       "Base of the rotation angles: wavelengths go up to 2π times this value (2104.09864 §3.2.2)", uses_rope},
      {ATTNSCOPE_FIELD(model.rope_scaling), "RoPE scaling", any_text,
       "Change of the rotation angles for contexts longer than the model was first trained on: none, linear:FACTOR, "
       "dynamic:FACTOR,LENGTH, llama3:FACTOR,LOW,HIGH,LENGTH or yarn:FACTOR,SLOW,FAST,LENGTH,MAGNITUDE",
       uses_rope},
      {ATTNSCOPE_FIELD(model.rotary_width), "Rotated width", range(0, 1024),
       "Number of dimensions of each head that RoPE rotates; the others carry no position (GPT-NeoX, 2204.06745 §2.1); "
       "0: all",
       uses_rope},
      {ATTNSCOPE_FIELD(model.window), "Attention window", range(0, 4096, "tokens"),
       "A query attends to keys at distances below this: to itself and the ones before it, in an encoder also after it "
       "(sliding window, 2310.06825 §2); 0: all",
       is_transformer},
      {ATTNSCOPE_FIELD(model.window_layers), "Layers with a window", any_text,
       "One letter per layer, l for local (with the window) or g for global, repeated over all layers: l for every "
       "layer, lg for every other one",
       has_window},
      {ATTNSCOPE_FIELD(model.local_rope_theta), "RoPE base, local", range(0, 1e9),
       "Base of the rotation angles in the layers with a window, without RoPE scaling (Gemma 3, 2503.19786 §2); 0: "
       "as in the other layers",
       has_local_rope},
      {ATTNSCOPE_FIELD(model.query_key_norm), "Query/key norm", yes_or_no,
       "Normalize every head's queries and keys before RoPE and the scores (2010.04245; Qwen 3)", is_transformer},
      {ATTNSCOPE_FIELD(model.scaled_attention), "Divide by √d_k", yes_or_no,
       "Divide the scores by √d_k before the softmax (paper §3.2.1); without this the softmax saturates",
       is_transformer},
      {ATTNSCOPE_FIELD(model.score_width), "Score width", range(0, 1e6),
       "Divide the scores by the root of this number instead of √d_k (Gemma 2); 0: d_k", is_scaled},
      {ATTNSCOPE_FIELD(model.score_cap), "Score cap", range(0, 1e6),
       "Limit the scores smoothly to ± this value: c · tanh(score / c) (Gemma 2, 2408.00118 §2); 0: no limit",
       is_transformer},
      {ATTNSCOPE_FIELD(model.logit_cap), "Logit cap", range(0, 1e6),
       "Limit the logits smoothly to ± this value: c · tanh(logit / c) (Gemma 2, 2408.00118 §2); 0: no limit",
       is_transformer},
      {ATTNSCOPE_FIELD(model.dropout), "Dropout", range(0, 0.9),
       "Probability of zeroing an activation during training: in sublayer outputs and embeddings (paper §5.4), and in "
       "attention weights, as in the paper's own code",
       always, live},
      {ATTNSCOPE_FIELD(model.tied_embeddings), "Tied embeddings", yes_or_no,
       "Source embedding, target embedding and output matrix share one matrix (paper §3.4)", predicts_tokens},
      {ATTNSCOPE_FIELD(model.tied_inputs), "Tied inputs", yes_or_no,
       "Source and target embeddings share one matrix; the output matrix is separate", has_separate_matrices},
      {ATTNSCOPE_FIELD(model.scaled_embeddings), "Embeddings × √d", yes_or_no,
       "Multiply the embeddings by √d_model (paper §3.4)", is_transformer},
      {ATTNSCOPE_FIELD(model.d_embedding), "Embedding width", range(0, 8192),
       "Width of the embeddings, which a linear map widens to d_model (ALBERT, 1909.11942 §3.1); 0: d_model",
       is_masked_lm},
      {ATTNSCOPE_FIELD(model.embedding_norm), "Embedding norm", yes_or_no,
       "A layer norm after token, position and token type embeddings are added (BERT, 1810.04805)", is_transformer},
      {ATTNSCOPE_FIELD(model.token_types), "Token types", range(0, 16),
       "Number of learned vectors that tell the sentences of a pair apart (segment embeddings, 1810.04805 §3); 0: none",
       is_masked_lm},
      {ATTNSCOPE_FIELD(model.head), "Head", one_of({"tokens", "replaced", "none"}),
       "Output of the encoder. tokens: the probabilities of every token at a masked position; replaced: whether a "
       "token was replaced (ELECTRA, 2003.10555 §2); none: only its states",
       has_foreign_encoder},
      {ATTNSCOPE_FIELD(model.head_epsilon), "Norm ε of the head", range(0, 0.1),
       "Added to the variance in the head's layer norm; 0: as in the layers", has_foreign_encoder},
      {ATTNSCOPE_FIELD(model.scaled_output), "Output ÷ √d", yes_or_no,
       "Divide the input of the output matrix by √d_model, as T5 does with tied embeddings", is_transformer},
      {ATTNSCOPE_FIELD(model.output_bias), "Output bias", yes_or_no,
       "A learned bias per token, or per label, added to its logit"},
      {ATTNSCOPE_FIELD(model.max_length), "Max sequence length", range(8, 4096, "tokens"),
       "Longer pairs are not used for training, and longer typed sentences are truncated; the context length of a "
       "decoder-only model"},
      {ATTNSCOPE_FIELD(model.padding_id), "Padding token", any_token,
       "Id of the token that fills up the rows of a batch; −1: none", has_own_vocabulary},
      {ATTNSCOPE_FIELD(model.start_id), "Start token", any_token, "Id of the decoder's first input token",
       has_own_vocabulary},
      {ATTNSCOPE_FIELD(model.end_id), "End token", any_token, "Id of the token that ends a sentence",
       has_own_vocabulary},
      {ATTNSCOPE_FIELD(model.unknown_id), "Unknown token", any_token,
       "Id of the token for text that the vocabulary does not cover; −1: none", has_own_vocabulary},
      {ATTNSCOPE_FIELD(model.first_id), "First token", any_token,
       "Id of the token that begins every output, such as the target language; −1: none", has_own_vocabulary},
      {ATTNSCOPE_FIELD(model.banned_id), "Suppressed token", any_token,
       "Id of a token that is never generated; −1: none", has_own_vocabulary},
      {ATTNSCOPE_FIELD(model.mask_id), "Mask token", any_token, "Id of the token that hides another one; −1: none",
       has_foreign_encoder},
      {ATTNSCOPE_FIELD(model.ends_text), "Stop at end token", yes_or_no,
       "The end token stops generation; otherwise it marks the end of a line", may_end},
      {ATTNSCOPE_FIELD(model.from), "Initialize from", any_text,
       "Folder of a run, or of another program's checkpoint, whose weights and tokenizer initialize the model "
       "(fine-tuning); the architecture is then the same as there. Empty: random weights"},
      {ATTNSCOPE_FIELD(training.steps), "Steps", range(1, 10000000, "steps"),
       "Optimizer steps after which training stops", always, live},
      {ATTNSCOPE_FIELD(training.batch_size), "Batch size", range(1, 4096, "pairs"),
       "Sentence pairs per batch; windows of text for a decoder-only model", counts_pairs},
      {ATTNSCOPE_FIELD(training.batch_tokens), "Max tokens per batch", range(0, 1000000, "tokens"),
       "A batch takes as many pairs as fit into this many tokens of the longer side, padding included; 0: the batch "
       "size decides",
       reads_pairs},
      {ATTNSCOPE_FIELD(training.batch_order), "Length bucketing", one_of({"chance", "source", "both"}),
       "Which pairs share a batch. chance: random pairs, with which a model learns soonest; source: pairs of similar "
       "source length; both: pairs of equal source and target length, which need the least padding but are often "
       "similar. Padding costs nothing while a Transformer trains on a CPU; recurrent networks and GPUs compute it",
       reads_pairs},
      {ATTNSCOPE_FIELD(training.accumulation_steps), "Accumulation steps", range(1, 256, "batches"),
       "Batches whose gradients are summed before one optimizer step (gradient accumulation): a larger batch in the "
       "same memory"},
      {ATTNSCOPE_FIELD(training.precision), "Precision", one_of({"float32", "bfloat16"}),
       "Number format of matrix products during training (mixed precision). bfloat16: factors are rounded to 8 "
       "significant bits and summed in float32; weights, gradients and their moments stay in float32 (arXiv "
       "1710.03740, 1905.12322). Use it on processors and GPUs with bfloat16 instructions"},
      {ATTNSCOPE_FIELD(training.recompute), "Gradient checkpointing", yes_or_no,
       "Store only the input of every layer and recompute the layer in the backward pass: same gradients, less memory, "
       "more time (arXiv 1604.06174)",
       is_transformer},
      {ATTNSCOPE_FIELD(training.optimizer), "Optimizer", one_of({"adam", "adamw"}),
       "Adam (arXiv 1412.6980), or AdamW, which adds decoupled weight decay (1711.05101)"},
      {ATTNSCOPE_FIELD(training.weight_decay), "Weight decay", range(0, 1),
       "AdamW: matrices shrink by this share, times the learning rate, at every step; biases and gains do not",
       uses_adamw, live},
      {ATTNSCOPE_FIELD(training.beta2), "Adam β2", range(0.5, 0.9999),
       "Decay rate of the mean squared gradient (paper §5.3: 0.98)"},
      {ATTNSCOPE_FIELD(training.schedule), "LR schedule", one_of({"noam", "cosine", "constant"}),
       "Learning rate after the warm-up. noam: proportional to step^-0.5 (paper §5.3); cosine: falls to its minimum at "
       "the last step; constant: no decay"},
      {ATTNSCOPE_FIELD(training.noam_factor), "Noam factor", range(0.001, 100, "× Noam"),
       "Factor of the Noam schedule d_model^-0.5 · min(step^-0.5, step · warmup^-1.5) (paper §5.3)", uses_noam, live},
      {ATTNSCOPE_FIELD(training.learning_rate), "Learning rate", range(0.000001, 10),
       "Learning rate at the end of the warm-up", uses_plain_rate, live},
      {ATTNSCOPE_FIELD(training.min_learning_rate), "Min learning rate", range(0, 10),
       "Learning rate of the cosine schedule at the last step", uses_cosine, live},
      {ATTNSCOPE_FIELD(training.warmup_steps), "Warm-up steps", range(1, 1000000, "steps"),
       "Steps until the learning rate reaches its peak (paper §5.3)"},
      {ATTNSCOPE_FIELD(training.label_smoothing), "Label smoothing", range(0, 0.9),
       "Share of the target probability that is spread over the whole vocabulary (paper §5.4)", always, live},
      {ATTNSCOPE_FIELD(training.teacher_forcing), "Teacher forcing", range(0, 1),
       "Teacher forcing probability: how often the decoder is fed the reference token during training; otherwise it is "
       "fed its own output (scheduled sampling, arXiv 1506.03099), which takes longer",
       is_taught, live},
      {ATTNSCOPE_FIELD(training.masked), "Masked tokens (%)", range(1, 90, "%"),
       "Share of the tokens that the model predicts: of these, 80 % are masked, 10 % replaced by a random token and 10 "
       "% left as they are (BERT, 1810.04805 §3.1)",
       is_masked_lm, live},
      {ATTNSCOPE_FIELD(training.whole_words), "Whole words", yes_or_no,
       "Choose words instead of tokens for masking, so that no part of a word gives the rest away", is_masked_lm, live},
      {ATTNSCOPE_FIELD(training.clip_norm), "Gradient clipping", range(0, 1000),
       "Larger gradients are scaled down to this norm; 0: no clipping", always, live},
      {ATTNSCOPE_FIELD(training.validation_interval), "Validate every", range(1, 1000000, "steps"),
       "Steps between two validations"},
      {ATTNSCOPE_FIELD(training.history_interval), "Record pins every", range(1, 1000000, "steps"),
       "Steps between two recordings of the pinned sentences", always, live},
      {ATTNSCOPE_FIELD(training.checkpoint_interval), "Save every", range(1, 1000000, "steps"),
       "Steps between two checkpoints of a run that has a folder"},
      {ATTNSCOPE_FIELD(training.kept_checkpoints), "Checkpoints to keep", range(0, 100, "checkpoints"),
       "Number of checkpoints whose weights stay in the run's folder, so that they can be averaged (paper §6.1)"},
      {ATTNSCOPE_FIELD(training.keep_best), "Keep best weights", yes_or_no,
       "Keep the weights of the step with the lowest validation loss, next to the newest ones, so that Run, Go to best "
       "and --step best can use them",
       always, live},
      {ATTNSCOPE_FIELD(training.patience), "Early stopping", range(0, 10000, "validations"),
       "End training after this many validations without a lower validation loss; 0: never", always, live},
      {ATTNSCOPE_FIELD(training.seed), "Seed", range(0, 4294967295.0),
       "Seed of initial weights, batch order and dropout; the same seed gives the same losses on a CPU"},
      {ATTNSCOPE_FIELD(training.device), "Device", one_of({"auto", "cpu", "cuda"}),
       "Device that computes the model; auto uses CUDA if available"},
      {ATTNSCOPE_FIELD(training.threads), "CPU threads", range(0, 256),
       "Number of CPU threads; 0: all cores that this process may use", always, live},
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
                                  std::is_integral_v<Number> ? "an integer," : "a number,", range_text(field)));
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
    return ConfigError(fmt::format("{} is {}, but must be {}", field.key, json.dump(), type));
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
          if (!json.is_string()) throw wrong("a quoted string");
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

bool is_section(std::string_view text) {
  return std::any_of(field_table().begin(), field_table().end(),
                     [&](const ConfigField& field) { return section(field) == text; });
}

// Returns the fields of that name in any section; otherwise the three with the most similar names, of that section if
// it exists.
std::vector<std::string_view> nearest_keys(std::string_view key) {
  constexpr std::size_t most = 3;
  const std::string_view key_section = key.substr(0, key.find('.'));
  const std::string_view key_name = key.substr(key.rfind('.') + 1);  // the whole key without a dot: npos + 1 is 0
  std::vector<std::string_view> same_name;
  std::vector<std::pair<std::size_t, std::string_view>> near;  // with the distance of the name
  for (const ConfigField& field : field_table()) {
    if (name(field) == key_name) same_name.push_back(field.key);
    if (is_section(key_section) && section(field) != key_section) continue;
    near.emplace_back(edit_distance(name(field), key_name), field.key);
  }
  if (!same_name.empty()) return same_name;
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string_view>::first);
  std::vector<std::string_view> keys;
  for (std::size_t i = 0; i < std::min(most, near.size()); ++i) keys.push_back(near[i].second);
  return keys;
}

// Keys of earlier versions, each with the only value that still has a meaning.
struct RemovedKey {
  std::string_view key;
  int value;
};
constexpr RemovedKey removed_keys[] = {{"corpus.edition", 6}};

bool is_removed(std::string_view key, const nlohmann::json& value) {
  const auto* const removed = std::ranges::find(removed_keys, key, &RemovedKey::key);
  if (removed == std::end(removed_keys)) return false;
  if (value != removed->value)
    throw ConfigError(fmt::format("{} is {}, but only {} can still be opened", key, value.dump(), removed->value));
  return true;
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

bool ModelConfig::is_local(std::int64_t layer) const {
  return window > 0 && window_layers[static_cast<std::size_t>(layer) % window_layers.size()] == 'l';
}

ModelConfig ModelConfig::of_layer(bool decoder, std::int64_t layer) const {
  ModelConfig own = *this;
  if (decoder && num_decoder_heads > 0) own.num_heads = num_decoder_heads;
  if (decoder && decoder_d_ff > 0) own.d_ff = decoder_d_ff;
  own.num_decoder_heads = own.decoder_d_ff = 0;
  if (!is_local(layer)) {
    own.window = 0;
  } else if (local_rope_theta > 0) {
    own.rope_theta = local_rope_theta;
    own.rope_scaling = "none";
  }
  own.local_rope_theta = 0;
  return own;
}

// The heads of one stack; `heads` is the field that sets their number.
static void check_rotations(const ModelConfig& stack, std::string_view heads) {
  if (stack.rotary_width % 2 != 0 || stack.rotary_width > stack.head_width())
    throw ConfigError(fmt::format("model.rotary_width is {}, allowed: even numbers up to the width of a head, {}",
                                  stack.rotary_width, stack.head_width()));
  const PositionScheme& positions = position_scheme(stack.positions);
  if (positions.form != PositionForm::rotation) return;
  if (stack.head_width() % 2 != 0)
    throw ConfigError(fmt::format("model.{} is {}, allowed with {}: an even width d_model / {}, not {}", heads,
                                  stack.num_heads, positions.name, heads, stack.head_width()));
  rotary_angles(stack);
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
  if (model.layer_groups > model.num_encoder_layers) {
    throw ConfigError(fmt::format("model.layer_groups is {}, allowed: at most model.num_encoder_layers, {}",
                                  model.layer_groups, model.num_encoder_layers));
  }
  if (model.d_embedding % 2 != 0)
    throw ConfigError(fmt::format("model.d_embedding is {}, allowed: even numbers", model.d_embedding));
  if (model.num_heads % model.key_heads() != 0) {
    throw ConfigError(fmt::format("model.num_kv_heads is {}, allowed: divisors of model.num_heads, {}",
                                  model.num_kv_heads, model.num_heads));
  }
  if (model.d_head == 0 && model.num_decoder_heads > 0 && model.d_model % model.num_decoder_heads != 0) {
    throw ConfigError(fmt::format("model.num_decoder_heads is {}, allowed: divisors of model.d_model, {}",
                                  model.num_decoder_heads, model.d_model));
  }
  if (model.num_decoder_heads > 0 && model.num_kv_heads > 0)
    throw ConfigError(fmt::format("model.num_decoder_heads is {}, allowed with model.num_kv_heads: 0",
                                  model.num_decoder_heads));
  if (model.window_layers.empty() || model.window_layers.find_first_not_of("gl") != std::string::npos)
    throw ConfigError(
        fmt::format("model.window_layers is \"{}\", allowed: the letters l and g", model.window_layers));
  for (const auto& [key, on] : {std::pair("output_norms", model.output_norms),
                                std::pair("parallel_sublayers", model.parallel_sublayers)})
    if (on && model.norm != "pre")
      throw ConfigError(fmt::format("model.{} is true, allowed with model.norm \"{}\": false", key, model.norm));
  if (model.has_encoder()) check_rotations(model.of_layer(false, 0), "num_heads");
  if (model.has_decoder())
    check_rotations(model.of_layer(true, 0), model.num_decoder_heads > 0 ? "num_decoder_heads" : "num_heads");
}

nlohmann::json to_json(const Config& config) {
  nlohmann::json json = {{"version", config_version}};
  for (const ConfigField& field : field_table()) {
    std::visit([&](auto* value) { json[section(field)][name(field)] = *value; }, pointer(config, field));
  }
  return json;
}

Config config_from_json(const nlohmann::json& json) {
  if (!json.is_object()) throw ConfigError("a configuration must be a JSON object");
  const nlohmann::json version = json.value("version", nlohmann::json());
  if (version != config_version && version != version_without_normalize) {
    throw ConfigError(
        fmt::format("version is {}, allowed: {}, {}; another attnscope wrote it: train the run again", version.dump(),
                    version_without_normalize, config_version));
  }
  Config config;
  config.corpus.normalize = version == config_version;
  for (const auto& [section_name, fields] : json.items()) {
    if (section_name == "version") continue;
    if (!is_section(section_name)) throw ConfigError(fmt::format("there is no section \"{}\"", section_name));
    if (!fields.is_object())
      throw ConfigError(fmt::format("{} is {}, but must be an object", section_name, fields.dump()));
    for (const auto& [field_name, value] : fields.items()) {
      const std::string key = section_name + "." + field_name;
      if (!is_removed(key, value)) read_field(config, config_field(key), value);
    }
  }
  check(config);
  return config;
}

// Does not check ranges: a configuration being edited may be out of range.
Config with_live_fields(const Config& base, const Config& edited) {
  Config merged = base;
  for (const ConfigField& field : field_table()) {
    if (!field.live) continue;
    std::visit([&](auto* value) { *value = *std::get<decltype(value)>(pointer(edited, field)); }, field.value(merged));
  }
  return merged;
}

}  // namespace attnscope
