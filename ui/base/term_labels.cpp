// Maps each label of the window to its glossary term.
#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/terms.h"
#include "base/translation.h"

namespace attnscope {
namespace {

struct Label {
  std::string_view label;  // a setting's key, or the title of a part of the window
  std::string_view term;   // the term it refers to
};

constexpr auto labels = std::to_array<Label>({
    {"corpus.source", "corpus"},
    {"corpus.target", "corpus"},
    {"corpus.seed", "seed"},
    {"corpus.separator", "separator"},
    {"corpus.lowercase", "tokenizer"},
    {"corpus.normalize", "tokenizer"},
    {"corpus.held_out", "held-out data"},
    {"corpus.modulus", "grokking"},
    {"corpus.operation", "grokking"},
    {"tokenizer.type", "tokenizer"},
    {"tokenizer.vocab_size", "vocabulary"},
    {"tokenizer.path", "tokenizer"},
    {"tokenizer.family", "tokenizer"},
    {"model.architecture", "architecture"},
    {"model.from", "checkpoint"},
    {"model.reader", "classifier"},
    {"model.pooling", "pooling"},
    {"model.num_classes", "classifier"},
    {"model.cell", "gate"},
    {"model.attention", "additive attention"},
    {"model.bidirectional", "recurrent network"},
    {"model.d_model", "width"},
    {"model.num_heads", "attention head"},
    {"model.num_kv_heads", "attention head"},
    {"model.num_decoder_heads", "attention head"},
    {"model.d_head", "attention head"},
    {"model.layer_groups", "encoder"},
    {"model.num_encoder_layers", "encoder"},
    {"model.num_decoder_layers", "decoder"},
    {"model.d_ff", "feed-forward"},
    {"model.decoder_d_ff", "feed-forward"},
    {"model.initialization", "initialization"},
    {"model.norm", "layer norm"},
    {"model.norm_kind", "layer norm"},
    {"model.norm_epsilon", "layer norm"},
    {"model.final_norm", "layer norm"},
    {"model.output_norms", "layer norm"},
    {"model.parallel_sublayers", "residual connection"},
    {"model.activation", "activation function"},
    {"model.biases", "bias"},
    {"model.positions", "positional encoding"},
    {"model.max_distance", "relative positions"},
    {"model.rope_theta", "rotary embeddings (RoPE)"},
    {"model.rope_scaling", "rotary embeddings (RoPE)"},
    {"model.rotary_width", "rotary embeddings (RoPE)"},
    {"model.window", "look-ahead mask"},
    {"model.window_layers", "look-ahead mask"},
    {"model.local_rope_theta", "rotary embeddings (RoPE)"},
    {"model.query_key_norm", "layer norm"},
    {"model.scaled_attention", "scaled dot product"},
    {"model.score_width", "scaled dot product"},
    {"model.score_cap", "scaled dot product"},
    {"model.logit_cap", "logit"},
    {"model.dropout", "dropout"},
    {"model.tied_embeddings", "weight tying"},
    {"model.tied_inputs", "weight tying"},
    {"model.scaled_embeddings", "embedding"},
    {"model.d_embedding", "embedding"},
    {"model.embedding_norm", "layer norm"},
    {"model.token_types", "embedding"},
    {"model.head", "masked language model"},
    {"model.head_epsilon", "layer norm"},
    {"model.scaled_output", "logit"},
    {"model.output_bias", "bias"},
    {"model.max_length", "context"},
    {"model.padding_id", "padding"},
    {"model.start_id", "special tokens"},
    {"model.end_id", "special tokens"},
    {"model.unknown_id", "special tokens"},
    {"model.first_id", "special tokens"},
    {"model.banned_id", "special tokens"},
    {"model.mask_id", "special tokens"},
    {"model.ends_text", "special tokens"},
    {"training.steps", "step"},
    {"training.batch_size", "batch"},
    {"training.batch_tokens", "batch"},
    {"training.batch_order", "padding"},
    {"training.accumulation_steps", "accumulation"},
    {"training.precision", "precision"},
    {"training.recompute", "recomputation"},
    {"training.optimizer", "Adam"},
    {"training.weight_decay", "weight decay"},
    {"training.beta2", "Adam"},
    {"training.schedule", "learning rate"},
    {"training.noam_factor", "warm-up"},
    {"training.learning_rate", "learning rate"},
    {"training.min_learning_rate", "learning rate"},
    {"training.warmup_steps", "warm-up"},
    {"training.label_smoothing", "label smoothing"},
    {"training.teacher_forcing", "teacher forcing"},
    {"training.masked", "masked language model"},
    {"training.whole_words", "masked language model"},
    {"training.clip_norm", "gradient clipping"},
    {"training.validation_interval", "validation"},
    {"training.history_interval", "checkpoint"},
    {"training.checkpoint_interval", "checkpoint"},
    {"training.kept_checkpoints", "checkpoint"},
    {"training.keep_best", "checkpoint"},
    {"training.patience", "validation"},
    {"training.seed", "seed"},
    {"training.device", "device"},
    {"training.threads", "thread"},
    {"Glance", "self-attention"},
    {"Attention", "attention"},
    {"Embeddings", "embedding"},
    {"Data flow", "residual stream"},
    {"Positions", "positional encoding"},
    {"Decoding", "decoding"},
    {"Fill mask", "masked language model"},
    {"Accuracy at masked tokens", "masked language model"},
    {"Circuit", "circuit"},
    {"Mechanisms", "induction head"},
    {"Induction heads", "induction head"},
    {"Grokking", "grokking"},
    {"Runs", "run"},
    {"Neurons", "neuron"},
    {"Probes", "linear probe"},
    {"Accuracy over training", "linear probe"},
    {"Activations", "neuron"},
    {"Nearest contexts", "nearest contexts"},
    {"Steer", "steering"},
    {"Accuracy", "accuracy"},
    {"Loss of the repeated tokens, nats", "induction head"},
    {"Induction score", "induction head"},
    {"Previous-token score", "induction head"},
    {"Loss, nats", "loss"},
    {"Origins", "attention"},
    {"Why", "circuit"},
    {"Architecture", "architecture"},
    {"Soft database", "attention"},
    {"Batch", "batch"},
    {"Weights and gradients", "gradient"},
    {"Model", "attention head"},
    {"Head", "attention head"},
    {"Inside one head", "scaled dot product"},
    {"Sublayers", "residual connection"},
    {"Step by step", "decoding"},
    {"Beam tree", "beam search"},
    {"Side by side", "sampling"},
    {"Teacher forcing", "teacher forcing"},
    {"Superposition", "superposition"},
    {"W\u1D40W, b", "superposition"},
    {"Reconstruction error", "superposition"},
    {"Kernel regression", "kernel regression"},
    {"Learned attention", "kernel regression"},
    {"\u221Ad_k", "scaled dot product"},
    {"Learning rate", "learning rate"},
    {"Recurrent cell", "gate"},
    {"Attention over states", "additive attention"},
    {"Bottleneck", "bottleneck"},
    {"Backpropagation through time", "backpropagation through time"},
    {"Cost", "complexity"},
    {"Length", "context"},
    {"Classifier", "classifier"},
    {"By position", "patching"},
    {"Heads", "attention head"},
    {"Circuit", "circuit"},
    {"Score decomposition", "residual stream"},
    {"Over training", "circuit"},
    {"Attribution", "attribution"},
    {"Head importance", "ablation"},
    {"In this model", "positional encoding"},
    {"Rotary embeddings (RoPE)", "rotary embeddings (RoPE)"},
    {"Wavelengths", "sinusoids"},
    {"Attention distance", "attention head"},
    {"Captured layers", "residual stream"},
    {"Capture", "attention"},
    {"Word order", "bag of words"},
    {"Map", "principal components"},
    {"One word, many sentences", "contextual vector"},
    {"One-hot vs. learned", "one-hot vector"},
    {"Bias added to the score", "ALiBi"},
    {"Dot product", "cosine"},
    {"Entropy", "entropy"},
    {"Error by kernel width", "kernel regression"},
    {"Exact matches, %", "held-out data"},
    {"Accuracy, %", "held-out data"},
    {"Forward + backward pass, ms", "complexity"},
    {"Gradient by layer", "residual connection"},
    {"Jacobian norm", "gradient"},
    {"Leave-one-out error", "kernel regression"},
    {"Loss, A \u2212 B", "loss"},
    {"Loss, nats per token", "loss"},
    {"Loss, nats/token", "loss"},
    {"Gradient norm", "gradient"},
    {"Tokens/s", "token"},
    {"Mean distance by layer", "attention head"},
    {"Memory, MB", "complexity"},
    {"Effect, nats", "patching"},
    {"Nats/token by remaining heads", "ablation"},
    {"Probability", "probability"},
    {"Score by decoding step", "length penalty"},
    {"Sinusoids by position", "sinusoids"},
    {"Value", "positional encoding"},
    {"Wavelengths, 2\u03C0 \u2026 10000\u00B72\u03C0 positions", "sinusoids"},
    {"Weight", "weight"},
    {"q\u00B7k by distance", "rotary embeddings (RoPE)"},
    {"Gradient by step", "gradient"},
    {"Values by step", "weight"},
    {"Matrix", "attention"},
    {"Lines", "attention"},
    {"Both", "attention"},
    {"this head", "attention head"},
    {"together", "attention head"},
    {"mean of the selected heads", "attention head"},
    {"mean over the layer's heads", "attention head"},
    {"max over the layer's heads", "attention head"},
    {"mean over all layers", "attention head"},
    {"max over all layers", "attention head"},
    {"attention rollout", "attention rollout"},
    {"with interventions − original", "intervention"},
    {"Every head", "attention head"},
    {"Logit lens", "logit lens"},
    {"Mask", "look-ahead mask"},
    {"Branches", "beam search"},
    {"Look-ahead mask", "look-ahead mask"},
    {"Alignment", "alignment"},
    {"by layer", "attention head"},
    {"by entropy", "entropy"},
    {"by distance", "attention head"},
    {"by attention to", "attention"},
    {"PCA", "principal components"},
    {"frequency", "corpus"},
    {"received", "attention"},
    {"query", "query"},
    {"key", "key"},
    {"Sentence", "token"},
    {"Prompt", "language model"},
    {"Pin", "checkpoint"},
    {"retained", "top-p"},
    {"temperature T", "temperature"},
    {"beam", "beam search"},
    {"length penalty α", "length penalty"},
    {"Σ log p", "log-probability"},
    {"nats/token", "nat"},
    {"nats", "nat"},
    {"perplexity", "perplexity"},
    {"samples", "sampling"},
    {"Words", "tokenizer"},
    {"Margins", "entropy"},
    {"Replace with", "patching"},
    {"contrast sentence", "patching"},
    {"Force attention", "intervention"},
    {"Intervene…", "intervention"},
    {"Train", "loss"},
    {"Step", "step"},
    {"Reset", "initialization"},
    {"Held-out texts", "held-out data"},
    {"Preset", "architecture"},
    {"Source", "encoder"},
    {"Decoder input", "teacher forcing"},
    {"Whole vocabulary", "vocabulary"},
    {"One-hot", "one-hot vector"},
    {"Smoothed target", "label smoothing"},
    {"Dropout mask", "dropout"},
    {"Attention mask", "look-ahead mask"},
    {"Share of padding", "padding"},
    {"Switch off", "ablation"},
    {"Replace a token", "intervention"},
    {"Sampling", "sampling"},
    {"Beam search", "beam search"},
    {"In the model", "scaled dot product"},
    {"Distances", "cosine"},
    {"Analogy", "analogy"},
    {"Classic pairs", "run"},
    {"This configuration with other values in B", "run"},
});

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || (static_cast<unsigned char>(c) & 0x80U) != 0;
}

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// Finds a word in the text, allowing an ending of up to two letters: "key" also matches "keys". npos: not found.
std::size_t place_of(std::string_view word, std::string_view text) {
  for (std::size_t at = 0; at + word.size() <= text.size(); ++at) {
    if (at > 0 && is_letter(text[at - 1])) continue;
    if (!std::ranges::equal(word, text.substr(at, word.size()), same_letter)) continue;
    std::size_t ending = 0;
    while (at + word.size() + ending < text.size() && is_letter(text[at + word.size() + ending])) ++ending;
    if (ending <= 2) return at;
  }
  return std::string_view::npos;
}

}  // namespace

const Term* term_of(std::string_view label) {
  label = label.substr(0, label.find("##"));
  if (label.empty()) return nullptr;
  for (const Label& row : labels)
    if (row.label == label || tr(row.label) == label) return find_term(row.term);
  const auto named = [&](const Term& term) { return term.name == label || tr(term.name) == label; };
  const auto found = std::ranges::find_if(glossary(), named);
  return found == glossary().end() ? nullptr : &*found;
}

std::vector<const Term*> terms_in(std::string_view text) {
  std::vector<std::pair<std::size_t, const Term*>> places;
  for (const Term& term : glossary())
    if (const std::size_t at = place_of(tr(term.name), text); at != std::string_view::npos)
      places.emplace_back(at, &term);
  // If two matches start at the same position, the longer wins: "attention head".
  std::ranges::sort(places, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->name.size() > b.second->name.size();
  });
  std::vector<const Term*> found;
  for (const auto& [at, term] : places) found.push_back(term);
  return found;
}

}  // namespace attnscope
