// The words of a sentence in other orders: what a model that is not told the order must make of them.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "config/position_schemes.h"
#include "inspect/probe/order.h"
#include "model_fixture.h"
#include "tokenizer_fixture.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

Model still(const std::string& positions, const std::string& architecture = "encoder-decoder") {
  ModelConfig config = small_config();
  config.positions = positions;
  config.architecture = architecture;
  config.d_model = 16;
  torch::manual_seed(3);
  Model model = make_model(config, tokenizer().vocab_size());
  stir(*model);
  model->freeze();
  return model;
}

OrderResult inspect(SequenceModel& model, const std::string& text) {
  return compare_orders(model, tokenizer(), {.text = text, .orders = 4}, [](double) {});
}

TEST(ShuffledWords, WordsAreShuffledAndNoOrderComesTwice) {
  const std::vector<std::string> orders = shuffled_words("  the cat  sat on the mat ", 6, 1);
  ASSERT_EQ(orders.size(), 6);
  EXPECT_EQ(orders[0], "the cat sat on the mat");
  EXPECT_EQ(std::set(orders.begin(), orders.end()).size(), orders.size());
  for (const std::string& order : orders) {
    std::istringstream stream(order);
    const std::multiset<std::string> words{std::istream_iterator<std::string>(stream), {}};
    EXPECT_EQ(words, (std::multiset<std::string>{"the", "cat", "sat", "on", "the", "mat"}));
  }
  EXPECT_EQ(shuffled_words("the cat", 6, 1).size(), 2);
  EXPECT_EQ(shuffled_words("the the", 6, 1).size(), 1);
  EXPECT_EQ(orders, shuffled_words("the cat sat on the mat", 6, 1));
  EXPECT_NE(orders, shuffled_words("the cat sat on the mat", 6, 2));
}

// Pieces of single characters with a space before each word: whole words change places, so only attention between words
// is untouched by it. Words of one piece each would do too.
TEST(ShuffledWords, WhoIsNotToldItWritesTheSame) {
  for (const PositionScheme& scheme : position_schemes()) {
    const Model model = still(std::string(scheme.name));
    const OrderResult inspection = inspect(*model, "a t e");
    ASSERT_EQ(inspection.problem, "") << scheme.name;
    ASSERT_GT(inspection.orders.size(), 3);
    double told = 0;
    for (const WordOrder& order : inspection.orders) {
      told = std::max(told, std::abs(order.with_positions.log_prob - inspection.orders[0].with_positions.log_prob));
      if (scheme.name == "none") {
        EXPECT_TRUE(order.without_positions.empty()) << "there is nothing to switch off";
        continue;
      }
      EXPECT_NEAR(order.without_positions.at(0).log_prob, inspection.orders[0].without_positions.at(0).log_prob, 1e-3)
          << scheme.name;
      EXPECT_EQ(order.without_positions.at(0).output, inspection.orders[0].without_positions.at(0).output)
          << scheme.name;
    }
    const bool tells = scheme.form == PositionForm::added || scheme.form == PositionForm::rotation;
    EXPECT_TRUE(scheme.name == "none" ? told < 1e-3 : !tells || told > 1e-3) << scheme.name << " " << told;
  }
}

TEST(ShuffledWords, OfNothingToShuffleSaysSo) {
  const Model model = still("sinusoidal");
  EXPECT_THAT(inspect(*model, "cat").problem, HasSubstr("two words"));
  EXPECT_THAT(inspect(*model, "").problem, HasSubstr("two words"));
  const Model language_model = still("sinusoidal", "decoder-only");
  EXPECT_THAT(inspect(*language_model, "the cat").problem, HasSubstr("language model"));
}

}  // namespace
}  // namespace attnscope
