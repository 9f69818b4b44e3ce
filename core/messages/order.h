// The model's output for shuffled words: how much word order it receives and uses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

struct OrderQuestion {
  std::string text;
  std::int64_t seed = 1;    // of the shuffles
  std::int64_t orders = 6;  // in addition to the original order
  bool operator==(const OrderQuestion&) const = default;
};

// The model's result for one word order.
struct OrderReading {
  std::string output;
  double log_prob = 0;  // in nats, of the output for the unshuffled sentence; the same output for every order
};

struct WordOrder {
  std::string text;
  OrderReading with_positions;  // the unmodified model
  std::vector<OrderReading>
      without_positions;  // one, or empty: without positional encoding (Interventions::no_positions)
};

struct OrderResult {
  OrderQuestion question;
  std::string positions;          // model.positions
  std::vector<WordOrder> orders;  // the original first; no duplicates
  std::string problem = {};       // why there is no result, in one sentence
};

}  // namespace attnscope
