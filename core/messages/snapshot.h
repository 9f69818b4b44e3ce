// The result of one forward pass: tokens, attention maps, logits, hidden states.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/matrix.h"
#include "config/config.h"
#include "config/heads.h"
#include "messages/head_inside.h"
#include "messages/interventions.h"
#include "messages/neurons.h"
#include "messages/sublayers.h"
#include "messages/token.h"

namespace attnscope {

// A word that does not occur in the training part of the corpus: at most its tokens are known.
struct UnseenWord {
  int begin = 0;  // its tokens in the input
  int end = 0;
  std::string text;
  std::vector<std::string> nearest;  // training words that fit its place, most similar spelling first; may be empty
  bool operator==(const UnseenWord&) const = default;
};

struct Candidate {
  Token token;
  float logit = 0;
  float probability = 0;  // softmax(logits)
  float tempered = 0;     // softmax(logits / temperature)
  float kept = 0;         // renormalized after top-k and top-p; 0 if removed
  bool operator==(const Candidate&) const = default;
};

// The reference token of a step, and its rank under the model.
struct GoldStep {
  Token token;
  float probability = 0;
  int rank = 1;  // 1: the most probable
  Token best;    // the most probable token
  bool operator==(const GoldStep&) const = default;
};

// The candidates of the decoder at one step.
struct DecodingStep {
  std::vector<Candidate> candidates;  // most probable first; the forced token last, if it is not one of them
  int chosen = 0;                     // index into candidates
  float entropy = 0;                  // of the whole distribution, in nats
  std::optional<GoldStep> reference;  // the reference's token at this position, if known
  bool operator==(const DecodingStep&) const = default;
};

// One place where positions enter the model; model.positions names the scheme.
struct PositionTable {
  std::string name;  // "source", "decoder, layer 2"
  int first = 0;     // meaning of the first row: position 0, or the smallest distance key − query
  // Depends on the scheme's form (config/position_schemes.h). One row per position: vectors added to the embeddings, or
  // cos and sin of a head's rotations. One row per distance: a^K of a layer, or the bias of each head, one per column.
  Matrix values;
};

// One layer's hidden states, one vector per token, projected onto their two principal axes.
struct HiddenLayer {
  Matrix points;                     // tokens × 2
  std::array<float, 2> shares = {};  // of the variance, along each
};

struct Label {
  std::string name;
  std::string value;
};

// The parts of a captured sentence (files/captures/capture.h) besides tokens and attention.
struct CapturedSentence {
  std::vector<Label> labels;
  int second = -1;    // first token of sentence B; −1: there is one sentence
  int grid_rows = 0;  // of image patches, which are the last source tokens; 0: not an image
  int grid_cols = 0;
  std::vector<HiddenLayer> hidden;  // input of the first layer, then each layer's output; empty: not captured
  Matrix layer_similarity;          // between these: the mean cosine of a token's vectors
};

struct BatchInspection;
struct DataFlow;
struct Decodings;
struct EmbeddingResult;
struct RecurrentStates;
struct SenseResult;

// Immutable once published; shared between threads as shared_ptr<const Snapshot>.
struct Snapshot {
  std::uint64_t run = 0;          // number of runs opened or reset in this process
  std::int64_t step = 0;          // optimizer steps of the weights
  bool recorded_weights = false;  // weights of a recorded step (Probe::step), not the present ones
  std::uint64_t request = 0;      // the Probe this answers
  ModelConfig model;              // of the inspected model

  std::string source_text;        // as typed: the source, or a language model's prompt
  std::string output_text;        // the model's output; after a prompt only the continuation, with its line breaks
  std::vector<Token> source;      // S tokens, with </s> at the end; empty in a language model
  std::vector<Token> target_in;   // T decoder inputs: <s> y1 … y(T-1); in a language model the text, without <s>
  std::vector<Token> target_out;  // T decoder outputs: y1 … y(T-1) </s>; row t of a map is the step that generated it
  std::size_t forced = 0;         // leading outputs that were given (a prompt, a prefix, a reference), not chosen
  std::size_t prefix = 0;         // the number of those, at the end, that come from Probe::prefix and prefix_ids
  bool truncated = false;         // the input exceeds max_length, or the memory limit of an inspection's maps
  bool stopped_at_limit = false;  // decoding ended without </s>
  std::vector<UnseenWord> unseen;  // in the input, in order; empty if the corpus is unknown
  std::int64_t known_words = 0;    // different words in the training data; 0: unknown

  AttentionMaps encoder;  // S × S; empty in a language model and in recurrent models
  AttentionMaps decoder;  // T × T, zero right of the diagonal (look-ahead mask, §3.2.3); empty in recurrent models
  AttentionMaps cross;    // T × S; empty in a language model; at most one map in recurrent models

  // Masked language model, instead of generated outputs: the S predictions of every position, whose reference is the
  // token at that position. Row i of `encoder` is the attention of prediction i.
  std::vector<float> replaced;  // a discriminator's logit that each source token was replaced; S, or empty
  // log p of each source token if only it is masked (pseudo-log-likelihood, 1910.14659); 0 for special tokens. Only
  // with Probe::decoding.
  std::vector<float> masked_log_probs;

  std::vector<DecodingStep> decoding;                           // T steps
  std::shared_ptr<const std::vector<PositionTable>> positions;  // never null once published

  // Teacher forcing: every token of the reference (with </s>), given the preceding ones. If interventions are active
  // and no reference is known, the reference is the unmodified model's output.
  std::vector<GoldStep> gold;

  Interventions interventions;                // changes to the model in this forward pass
  std::shared_ptr<const Snapshot> untouched;  // the same request to the unmodified model; null without interventions

  // ---- only if requested by the Probe
  std::optional<HeadInside> inside;                  // the values of one head
  std::vector<SublayerEffect> sublayers;             // in the order of the forward pass
  std::optional<SentenceFeatures> features;          // only in the complete snapshot
  std::shared_ptr<const DataFlow> data_flow;         // the matrices of one box
  std::shared_ptr<const RecurrentStates> recurrent;  // gates and states of one layer; null in a Transformer
  std::shared_ptr<const BatchInspection> batch;  // of the trainer, not of the sentence; only in the complete snapshot
  std::shared_ptr<const Decodings> decodings;    // computed later than the rest; null until then
  // of the model, not of the sentence; only in the complete snapshot
  std::shared_ptr<const EmbeddingResult> embeddings;
  std::shared_ptr<const SenseResult> senses;  // likewise

  std::shared_ptr<const CapturedSentence> captured;  // null unless the snapshot comes from a capture

  // The tokens of the input: the source, or the prompt.
  std::span<const Token> typed() const {
    if (!model.is_language_model() && !(captured && source.empty())) return source;
    return std::span(target_in).first(std::min(forced - prefix + 1, target_in.size()));
  }

  // The first generated output: 0, or a language model's first after its prompt.
  int first_output() const { return static_cast<int>(forced - prefix); }

  bool is_whole() const {
    if (model.is_masked_lm() && !model.fills_masks()) return !encoder.empty();
    return captured || (!target_out.empty() && decoding.size() == target_out.size());
  }
};

// The first source token of sentence B of a pair; −1: there is one sentence.
inline int second_sentence(const Snapshot& snapshot) {
  if (snapshot.captured) return snapshot.captured->second;
  if (!snapshot.model.is_masked_lm()) return -1;
  const auto ends = [&](const Token& token) { return token.id == snapshot.model.end_id; };
  const auto first = std::ranges::find_if(snapshot.source, ends);
  const auto second = std::find_if_not(first, snapshot.source.end(), ends);
  return second == snapshot.source.end() ? -1 : static_cast<int>(second - snapshot.source.begin());
}

inline const AttentionMaps& maps_of(const Snapshot& snapshot, AttentionPart part) {
  const bool of_decoder = part == AttentionPart::decoder;
  return part == AttentionPart::encoder ? snapshot.encoder : of_decoder ? snapshot.decoder : snapshot.cross;
}

// Returns one head's map; null if there is no such head.
inline const Matrix* map_at(const Snapshot& snapshot, const HeadPlace& place) {
  const AttentionMaps& maps = maps_of(snapshot, place.part);
  const auto layer = static_cast<std::size_t>(place.layer);
  const auto head = static_cast<std::size_t>(place.head);
  return layer < maps.size() && head < maps[layer].size() ? &maps[layer][head] : nullptr;
}

// The queries and the keys of a part's maps.
inline const std::vector<Token>& row_tokens(const Snapshot& snapshot, AttentionPart part) {
  const bool of_decoder = part == AttentionPart::decoder;
  return part == AttentionPart::encoder ? snapshot.source : of_decoder ? snapshot.target_in : snapshot.target_out;
}
inline const std::vector<Token>& col_tokens(const Snapshot& snapshot, AttentionPart part) {
  return part == AttentionPart::decoder ? snapshot.target_in : snapshot.source;
}

}  // namespace attnscope
