// The words of a sentence in other orders, and what a model writes of each.
#pragma once

#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/order.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// The words of the text in up to `count` orders, its own first; none twice.
std::vector<std::string> shuffled_words(const std::string& text, std::int64_t count, std::int64_t seed);

// What there is to say against it stands in OrderResult::problem. The model must stand still.
OrderResult compare_orders(SequenceModel& model, const Tokenizer& tokenizer, const OrderQuestion& question,
                           const FractionCallback& progress);

}  // namespace attnscope
