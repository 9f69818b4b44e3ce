// Tokens of texts from the corpus, each with a vector that a forward pass gives it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "model/model.h"
#include "training/batches.h"

namespace attnscope {

// The features of a pass over a batch, with what `inspection` asks for.
torch::Tensor features_of(SequenceModel& model, const Batch& batch, Inspection& inspection);

// Bool B×T: the positions with a target. Checkpoints may pad with the token that ends lines, so only what follows the
// last target of a row is padding; a masked language model has targets at its masks.
torch::Tensor target_positions(const Batch& batch, const ModelConfig& model);

struct TokenSample {
  static constexpr std::int64_t most_tokens = 4096;
  static constexpr std::int64_t neighbors = 8;  // on each side of a token that is shown

  // B×L×W, a vector per token of the stack; undefined if the pass has none.
  using Read = std::function<torch::Tensor(const Inspection&)>;

  // Takes whole batches from everywhere in `all` until there are `most` tokens, without padding; a masked language
  // model reads them unmasked. `wanted`: what each pass is asked for. The model is frozen.
  TokenSample(SequenceModel& model, const std::vector<Batch>& all, bool decoder, const Inspection& wanted,
              const Read& read, const YieldCallback& yield, std::int64_t most = most_tokens);

  std::int64_t tokens() const { return ids.size(0); }

  // The rows of the token's neighbors, and of itself.
  struct Rows {
    std::int64_t first = 0, end = 0;
  };
  Rows around(std::int64_t row) const;
  std::vector<std::string> texts(const Tokenizer& tokenizer, const Rows& rows) const;

  std::vector<Batch> batches;           // those taken, in order
  torch::Tensor values;                 // N×W
  torch::Tensor ids;                    // int64 N
  torch::Tensor positions;              // int64 N
  std::vector<std::int64_t> sentences;  // the first row of every sentence, and N
  std::vector<std::pair<std::size_t, std::int64_t>> places;  // of every sentence: its batch, and its row there
};

}  // namespace attnscope
