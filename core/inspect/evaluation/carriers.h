// The features that carry the difference between two kinds of sentences.
#pragma once

#include <string>
#include <vector>

#include "inspect/circuit/search.h"
#include "inspect/evaluation/dictionary.h"
#include "messages/interventions.h"

namespace attnscope {

// Mean activation at the word in the clean and in the corrupted sentences.
struct Carrier {
  int feature = 0;
  double clean = 0, corrupted = 0;
};

// Answers flipped by ablating that many features at the word, those with the largest difference first.
struct CarriersAblated {
  int features = 0;
  int zero = 0;   // zero ablation
  int other = 0;  // each is set to its mean in the other kind of sentences
};

struct Carriers {
  std::vector<Carrier> features;         // of all that differ, the largest difference first
  std::vector<CarriersAblated> ablated;  // 1, 2, 4, … features, and all
  int answers = 0;                       // two per pair
  int exact = 0;  // flipped by setting the whole vector to its mean in the other kind of sentences
};

// The features at the word with that name after the layer, which belongs to the stack that reads texts. The cases
// without such a word are left out.
Carriers find_carriers(const std::vector<ContrastCase>& cases, const std::string& word, const LayerPlace& place,
                       const SparseDictionary& dictionary);

}  // namespace attnscope
