// What a step's logits say: candidates, ranks, the reference's place among them.
#pragma once

#include <optional>
#include <vector>

#include "kernels/libtorch.h"
#include "plain/decodings.h"
#include "plain/sampling.h"
#include "plain/snapshot.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// A language model's </s> is a line's end and is shown as "⏎".
Token token_of(int id, const Tokenizer& tokenizer, const ModelConfig& model);

// One step's logits (V), on the CPU.
class Choice {
 public:
  Choice(const torch::Tensor& logits, const Tokenizer& tokenizer, const ModelConfig& model);

  // The best candidates, and `given` among them even if it is not one of the best; then it is what was chosen.
  DecodingStep step(std::optional<int> given, const SamplingOptions& sampling) const;

  GoldStep gold(int id) const;

  // The `count` most probable pieces, best first.
  std::vector<Guess> best(std::int64_t count) const;

  // Probabilities of the pieces at these ranks, 1 the best.
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

// 1 and `vocab_size` and between them ranks at equal distances on a logarithmic axis.
std::vector<int> plotted_ranks(std::int64_t vocab_size);

}  // namespace attnscope
