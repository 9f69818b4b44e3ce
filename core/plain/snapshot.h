// One look inside the model: a sentence, its translation and everything attended to on the way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plain/matrix.h"

namespace attnscope {

struct Token {
  int id = 0;
  std::string piece;  // as SentencePiece writes it: "▁animal" begins a word
  bool operator==(const Token&) const = default;
};

// [layer][head], each queries × keys; every row sums to 1.
using AttentionMaps = std::vector<std::vector<Matrix>>;

struct Candidate {
  Token token;
  float logit = 0;
  float probability = 0;
};

// What the decoder chose from at one step.
struct DecodingStep {
  std::vector<Candidate> candidates;  // most probable first
  int chosen = 0;                     // index into candidates
  float entropy = 0;                  // of the whole distribution, in nats
};

// Immutable once published; shared between threads as shared_ptr<const Snapshot>.
struct Snapshot {
  std::uint64_t run = 0;      // counts the runs opened or reset in this process
  std::int64_t step = 0;      // optimizer updates the weights have had
  std::uint64_t request = 0;  // the Probe this answers

  std::string source_text;
  std::string output_text;
  std::vector<Token> source;      // S pieces, with </s> at the end
  std::vector<Token> target_in;   // T decoder inputs: <s> y1 … y(T-1)
  std::vector<Token> target_out;  // T decoder outputs: y1 … y(T-1) </s>; row t of a map is the step that wrote it
  bool truncated = false;         // the sentence was longer than max_length
  bool stopped_at_limit = false;  // decoding ended without </s>

  AttentionMaps encoder;  // S × S
  AttentionMaps decoder;  // T × T, zero right of the diagonal (look-ahead mask, §3.2.3)
  AttentionMaps cross;    // T × S

  std::vector<DecodingStep> decoding;       // T steps
  std::shared_ptr<const Matrix> positions;  // max_length × d_model (§3.5)
};

}  // namespace attnscope
