// Embeddings as the worker would report them, without a model behind them.
#pragma once

#include <memory>

#include "messages/embeddings.h"
#include "messages/senses.h"

namespace attnscope {

// Pieces "▁king", "▁queen", "▁man", "▁woman" and so many more, "▁word4" …, on a spiral; "▁king" is chosen and has
// neighbours, and the analogy of the four its answer.
std::shared_ptr<EmbeddingResult> fixture_embeddings(int tokens = 60, std::int64_t step = 1240);

// "bank" in 40 sentences, told apart better layer by layer.
std::shared_ptr<SenseResult> fixture_senses(const std::string& word = "bank");

}  // namespace attnscope
