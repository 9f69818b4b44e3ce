// The outputs of one sentence as the worker would report them, without a model behind them.
#pragma once

#include <memory>

#include "messages/decodings.h"

namespace attnscope {

struct DecodingsSize {
  int steps = 5;
  int beam = 3;
  int samples = 2;
  bool finishes = true;  // with </s>, not at the limit
};

// A beam search over made-up log-probabilities: at every step the hypothesis that came first goes on as "zq<step>", the
// best; its other pieces are unlike all others. Greedy and samples beside it; maps of two layers and heads over
// `keys`.
std::shared_ptr<Decodings> fixture_decodings(DecodingsSize size, const std::vector<Token>& keys);

}  // namespace attnscope
