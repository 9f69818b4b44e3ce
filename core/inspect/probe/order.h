// The words of a sentence in other orders, and the model's output for each.
#pragma once

#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "messages/order.h"
#include "model/model.h"

namespace attnscope {

// The words of the text in up to `count` distinct orders, the original first.
std::vector<std::string> shuffled_words(const std::string& text, std::int64_t count, std::int64_t seed);

// Obstacles are reported in OrderResult::problem. The model must be frozen.
OrderResult compare_orders(SequenceModel& model, const Tokenizer& tokenizer, const OrderQuestion& question,
                           const FractionCallback& progress);

}  // namespace attnscope
