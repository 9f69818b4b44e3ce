// One look inside the model: a sentence, what the model makes of it and everything attended to on the way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plain/config.h"
#include "plain/embeddings.h"
#include "plain/head_inside.h"
#include "plain/heads.h"
#include "plain/interventions.h"
#include "plain/matrix.h"
#include "plain/senses.h"
#include "plain/sublayers.h"

namespace attnscope {

struct Token {
  int id = 0;
  std::string text;      // as SentencePiece writes it: "▁animal" begins a word
  bool unknown = false;  // the vocabulary has no piece for it: the model cannot tell one such from another
  bool operator==(const Token&) const = default;
};

// A word that the training part of the corpus has not: the model knows its pieces at best.
struct UnseenWord {
  int begin = 0;  // its pieces, of what was typed
  int end = 0;
  std::string text;
  std::vector<std::string> nearest;  // seen words that few letters tell from it, the nearest first; maybe none
  bool operator==(const UnseenWord&) const = default;
};

inline std::vector<std::string> texts_of(std::span<const Token> tokens) {
  std::vector<std::string> texts;
  for (const Token& token : tokens) texts.push_back(token.text);
  return texts;
}

inline std::vector<int> ids_of(std::span<const Token> tokens) {
  std::vector<int> ids;
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

// [layer][head], each queries × keys; every row sums to 1.
using AttentionMaps = std::vector<std::vector<Matrix>>;

struct Candidate {
  Token token;
  float logit = 0;
  float probability = 0;  // softmax(logits)
  float tempered = 0;     // softmax(logits / temperature)
  float kept = 0;         // of what top-k and top-p left, renormalised; exactly 0: cut away
  bool operator==(const Candidate&) const = default;
};

// A piece that should come at a step, and what the model makes of it.
struct GoldStep {
  Token token;
  float probability = 0;
  int rank = 1;  // 1: the most probable
  Token best;    // what the model would have written
  bool operator==(const GoldStep&) const = default;
};

// What the decoder chose from at one step.
struct DecodingStep {
  std::vector<Candidate> candidates;  // most probable first; at the end what was given, if it is not one of them
  int chosen = 0;                     // index into candidates
  float entropy = 0;                  // of the whole distribution, in nats
  std::optional<GoldStep> reference;  // the reference's piece at this place, where one is known
  bool operator==(const DecodingStep&) const = default;
};

// One of the places where the model is told the order of its tokens; model.positions says how.
struct PositionTable {
  std::string name;  // "source", "decoder, layer 2"
  int first = 0;     // what the first row stands for: position 0, or the smallest distance key − query
  // By the scheme's form (plain/position_schemes.h). A row a position: vectors added to the embeddings, or cos and sin
  // of the rotations of a head. A row a distance: a^K of a layer, or the bias of each head, one a column.
  Matrix values;
};

struct BatchInspection;
struct DataFlow;
struct Decodings;
struct RecurrentStates;

// Immutable once published; shared between threads as shared_ptr<const Snapshot>.
struct Snapshot {
  std::uint64_t run = 0;          // counts the runs opened or reset in this process
  std::int64_t step = 0;          // optimizer updates the weights have had
  bool recorded_weights = false;  // they are of a recorded step (Probe::step), not the present ones
  std::uint64_t request = 0;      // the Probe this answers
  ModelConfig model;              // what was looked into

  std::string source_text;         // as it was typed: the source, or a language model's prompt
  std::string output_text;         // what the model wrote; after a prompt, only what follows it, lines kept apart
  std::vector<Token> source;       // S pieces, with </s> at the end; none in a language model
  std::vector<Token> target_in;    // T decoder inputs: <s> y1 … y(T-1); of a language model the text, without <s>
  std::vector<Token> target_out;   // T decoder outputs: y1 … y(T-1) </s>; row t of a map is the step that wrote it
  std::size_t forced = 0;          // leading outputs that were given (a prompt, a prefix, a reference), not chosen
  std::size_t prefix = 0;          // the last so many of those were steered: Probe::prefix and prefix_ids
  bool truncated = false;          // what was typed is longer than max_length, or the bound on a look's maps, allows
  bool stopped_at_limit = false;   // decoding ended without </s>
  std::vector<UnseenWord> unseen;  // of what was typed, in its order; none where the corpus is not known

  AttentionMaps encoder;  // S × S; none in a language model and in recurrent models
  AttentionMaps decoder;  // T × T, zero right of the diagonal (look-ahead mask, §3.2.3); none in recurrent models
  AttentionMaps cross;    // T × S; none in a language model; one map, or none, in recurrent models

  std::vector<DecodingStep> decoding;                           // T steps
  std::shared_ptr<const std::vector<PositionTable>> positions;  // never null once published

  // Teacher forcing: every piece of the reference (</s> at its end), the ones before it given. While something is
  // changed and no reference is known, of what the untouched model writes.
  std::vector<GoldStep> gold;

  Interventions interventions;                // what was changed in the model for this look
  std::shared_ptr<const Snapshot> untouched;  // the same question to the model as it is; null when nothing is changed

  // ---- only if the Probe asked for them
  std::optional<HeadInside> inside;                   // one head's own numbers
  std::vector<SublayerEffect> sublayers;              // in the order of the pass
  std::shared_ptr<const DataFlow> data_flow;          // one box's matrices
  std::shared_ptr<const RecurrentStates> recurrent;   // one layer's gates and states; null in a Transformer
  std::shared_ptr<const BatchInspection> batch;       // of the trainer, not of the sentence; comes with the whole
  std::shared_ptr<const Decodings> decodings;         // comes later than the rest; null until then
  std::shared_ptr<const EmbeddingResult> embeddings;  // of the model, not of the sentence; with the whole
  std::shared_ptr<const SenseResult> senses;          // likewise

  // The pieces of what was typed: the source, or the prompt.
  std::span<const Token> typed() const {
    if (!model.is_language_model()) return source;
    return std::span(target_in).first(std::min(forced - prefix + 1, target_in.size()));
  }

  // The first output that was not typed: 0, or a language model's first after its prompt.
  int first_output() const { return static_cast<int>(forced - prefix); }

  bool is_whole() const { return !target_out.empty() && decoding.size() == target_out.size(); }
};

inline const AttentionMaps& maps_of(const Snapshot& snapshot, AttentionPart part) {
  const bool of_decoder = part == AttentionPart::decoder;
  return part == AttentionPart::encoder ? snapshot.encoder : of_decoder ? snapshot.decoder : snapshot.cross;
}

// One head's map; null where there is no such head.
inline const Matrix* map_at(const Snapshot& snapshot, const HeadPlace& place) {
  const AttentionMaps& maps = maps_of(snapshot, place.part);
  const auto layer = static_cast<std::size_t>(place.layer);
  const auto head = static_cast<std::size_t>(place.head);
  return layer < maps.size() && head < maps[layer].size() ? &maps[layer][head] : nullptr;
}

// Queries and keys of a part's maps.
inline const std::vector<Token>& row_tokens(const Snapshot& snapshot, AttentionPart part) {
  const bool of_decoder = part == AttentionPart::decoder;
  return part == AttentionPart::encoder ? snapshot.source : of_decoder ? snapshot.target_in : snapshot.target_out;
}
inline const std::vector<Token>& col_tokens(const Snapshot& snapshot, AttentionPart part) {
  return part == AttentionPart::decoder ? snapshot.target_in : snapshot.source;
}

inline constexpr std::string_view word_mark = "\u2581";  // ▁, with which a word begins

// Without the mark, if anything is left then.
inline std::string_view without_mark(std::string_view token) {
  return token.starts_with(word_mark) && token != word_mark ? token.substr(word_mark.size()) : token;
}

}  // namespace attnscope
