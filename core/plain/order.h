// What a model writes when the words of a sentence are shuffled: how much of the order it is told, and uses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

struct OrderQuestion {
  std::string text;
  std::int64_t seed = 1;    // of the shuffles
  std::int64_t orders = 6;  // besides the sentence's own
  bool operator==(const OrderQuestion&) const = default;
};

// What the model makes of one order of the words.
struct OrderReading {
  std::string output;
  double log_prob = 0;  // of what it writes of the sentence as it stands, in nats; of the same output in every order
};

struct WordOrder {
  std::string text;
  OrderReading with_positions;  // as the model is
  std::vector<OrderReading>
      without_positions;  // one, or none: without what tells it the order (Interventions::no_positions)
};

struct OrderResult {
  OrderQuestion question;
  std::string positions;          // model.positions
  std::vector<WordOrder> orders;  // the sentence's own first; no order twice
  std::string problem = {};       // why there is nothing, in one sentence
};

}  // namespace attnscope
