// Interprets one step's logits: candidates, ranks, the reference's rank.
#pragma once

#include <optional>
#include <vector>

#include "data/tokenizer/tokenizer.h"
#include "messages/decodings.h"
#include "messages/sampling_options.h"
#include "messages/snapshot.h"
#include "model/kernels/libtorch.h"

namespace attnscope {

// A language model's </s> is a line break and is shown as "⏎".
Token token_of(int id, const Tokenizer& tokenizer, const ModelConfig& model);

// One step's logits (V), on the CPU.
class Choice {
 public:
  Choice(const torch::Tensor& logits, const Tokenizer& tokenizer, const ModelConfig& model);

  // The best candidates, plus `given` even if it is not among them; `given` then counts as the chosen token.
  DecodingStep step(std::optional<int> given, const SamplingOptions& sampling) const;

  GoldStep gold(int id) const;

  // The `count` most probable tokens, best first.
  std::vector<Guess> best(std::int64_t count) const;

  // Probabilities of the tokens at these ranks; 1 is the best.
  std::vector<float> ranked(const std::vector<int>& ranks) const;

  int rank(int id) const;
  float probability(int id) const;

 private:
  std::vector<int> best_ids(std::int64_t count) const;
  Token token(int id) const { return token_of(id, tokenizer_, model_); }

  torch::Tensor logits_;  // float V
  torch::Tensor log_p_;   // float V
  const Tokenizer& tokenizer_;
  const ModelConfig& model_;
};

// Ranks from 1 to `vocab_size`, evenly spaced on a logarithmic axis.
std::vector<int> plotted_ranks(std::int64_t vocab_size);

}  // namespace attnscope
