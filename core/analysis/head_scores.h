// Measures of each head that follow from its attention only, without the model: no losses.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "messages/snapshot.h"

namespace attnscope {

struct HeadScores {
  HeadPlace place;
  int sentences = 0;  // averaged over
  double entropy = 0;  // nats
  double first = 0;    // share of the attention on the first key
  double special = 0;  // share on special tokens: [CLS], <s>, …
  // Only in self-attention.
  std::optional<double> distance;   // Σ w |query − key|, in tokens
  std::optional<double> previous;   // weight on the token before the query
  std::optional<double> induction;  // from a repeated token to the one after its earlier occurrence (2209.11895)
};

// "[CLS]", "</s>", "<|endoftext|>".
bool is_special_token(std::string_view token);

// Averaged over the queries of all sentences that have the head; `induction` over the repeated tokens only.
std::vector<HeadScores> head_scores(const std::vector<const Snapshot*>& sentences);

}  // namespace attnscope
