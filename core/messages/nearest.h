// The corpus's contexts in which a vector of the model is most like that of a chosen token (exBERT, 1910.05276).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/neurons.h"

namespace attnscope {

enum class VectorKind { state, query, key, head };  // head: a head's output, before W_O

// About the stack that reads the text.
struct NearestQuestion {
  std::string text = {};
  int token = 0;  // of the text
  VectorKind kind = VectorKind::state;
  int layer = 0;  // state: after this layer
  int head = 0;
  bool operator==(const NearestQuestion&) const = default;
};

struct NearestContext {
  NeuronContext context;  // its activations: the attention of the token, of the head or averaged; its value: the cosine
  std::string attended;   // the token with the largest weight
  int position = 0;       // in its sentence
  std::string sense = {};   // of its word, where the corpus knows it: "bank: rive"
  std::string output = {};  // the output token with the largest cross-attention to it; empty: there is none
};

struct NearestResult {
  std::string problem = {};  // why there is none, in one sentence
  NearestQuestion question = {};
  std::int64_t tokens = 0;  // of the sample of the validation part
  std::string token = {};   // the chosen one
  std::vector<NearestContext> contexts = {};  // most similar first, one per sentence
};

}  // namespace attnscope
