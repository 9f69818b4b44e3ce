// Properties of tokens that their vectors show: the senses of one word in many sentences, and linear probes of labels
// (Hewitt & Liang 2019, arXiv 1909.03368).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/matrix.h"

namespace attnscope {

// A corpus sentence that contains the word.
struct Occurrence {
  std::string sentence;
  std::string translation;
  int group = 0;  // index into SenseResult::groups
};

// The word's vectors at one place of the model.
struct SenseLayer {
  std::string name;                  // "embedding", "layer 1"
  Matrix points;                     // occurrences × 2, along the principal axes of these vectors
  std::array<float, 2> shares = {};  // of the variance, along each
  float separation = 0;              // mean silhouette of the groups in all D dimensions, −1…1
  float probe = 0;                   // held-out accuracy of a linear probe for the group
  float control = 0;                 // the same with shuffled groups (1909.03368)
};

struct SenseResult {
  std::string word;
  std::int64_t step = 0;
  std::string token;                // the word's last token, whose vectors these are
  int tokens = 1;                   // number of tokens of the word
  bool lowered = false;             // lowercased in some sentences, so that it is the same token in all
  std::string grouped_by;           // the criterion of the groups
  std::vector<std::string> groups;  // senses, or output tokens
  std::vector<Occurrence> occurrences;
  std::vector<SenseLayer> layers;        // in the order of the forward pass
  std::vector<std::string> suggestions;  // words with several senses in the corpus
  std::string problem;                   // why there is no result, in one sentence; empty: there is one
};

inline constexpr int most_occurrences = 240;

// ---- probes

// A label that the corpus has for each token. The sense is that of one word; of "it", the gender of its antecedent.
enum class TokenLabel { sense, position, kind, previous, depth };
inline constexpr std::array<std::string_view, 5> token_label_names = {"sense", "position", "class", "previous",
                                                                      "depth"};

struct ProbingQuestion {
  bool decoder = false;  // its tokens, not the encoder's
  TokenLabel label = TokenLabel::position;
  std::string word = "it";     // whose sense
  bool over_training = false;  // also at every recorded step
  bool operator==(const ProbingQuestion&) const = default;
};

struct ProbingPoint {
  std::int64_t step = 0;
  std::vector<double> accuracy, control;  // by layer, as in SenseLayer
};

struct ProbingResult {
  std::string problem = {};  // why there is none, in one sentence
  ProbingQuestion question = {};
  std::vector<std::string> classes = {};  // most frequent first
  std::vector<std::int64_t> counts = {};  // of the tokens with each class
  std::vector<std::string> layers = {};   // as SenseLayer::name
  bool has_embedding = true;              // the first of them
  std::vector<ProbingPoint> points = {};  // ascending; the last with the present weights
  std::vector<Matrix> directions = {};    // by layer: classes × D; see probe_directions
};

}  // namespace attnscope
