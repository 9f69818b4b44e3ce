// One word in many sentences, and what each layer makes of it: whether its senses come apart.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "plain/matrix.h"

namespace attnscope {

// A sentence of the corpus with the word in it.
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
};

struct SenseResult {
  std::string word;
  std::int64_t step = 0;
  std::string token;                // whose vectors these are: the word's last
  int tokens = 1;                   // of the word
  bool lowered = false;             // written small in some sentences, so that it is the same piece in all
  std::string grouped_by;           // how the groups are told apart
  std::vector<std::string> groups;  // senses, or output pieces
  std::vector<Occurrence> occurrences;
  std::vector<SenseLayer> layers;        // in the order of the pass
  std::vector<std::string> suggestions;  // words with several senses that the corpus knows
  std::string problem;                   // why there is nothing, in one sentence; empty: there is
};

inline constexpr int most_occurrences = 240;

}  // namespace attnscope
