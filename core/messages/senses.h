// One word in many sentences, and its vectors after each layer: do its senses separate?
#pragma once

#include <array>
#include <cstdint>
#include <string>
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

}  // namespace attnscope
