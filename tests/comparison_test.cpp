#include "config/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope {
namespace {

using testing::ElementsAre;

Config with(std::string_view key, std::string_view value, Config config = {}) {
  set_field(config, key, value);
  return config;
}

TEST(Differences, AreNamedAsTheSetupColumnNamesThem) {
  const auto found = differences(with("model.positions", "rope"), with("model.positions", "alibi"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().key, "model.positions");
  EXPECT_EQ(title_of(found), "Positions: rope · alibi");
  EXPECT_EQ(name_of_a(found), "rope");
  EXPECT_EQ(name_of_b(found), "alibi");
}

TEST(Differences, NumbersAreNamedWithTheirField) {
  const auto found = differences(with("model.num_heads", "1"), with("model.num_heads", "8"));
  EXPECT_THAT(name_of_b(found), testing::EndsWith(" 8"));
  EXPECT_GT(name_of_b(found).size(), 2U);
}

TEST(Differences, OfWhatOnlyOneMakesUseOfAreNone) {
  const Config recurrent = with("model.architecture", "recurrent");
  EXPECT_THAT(differences(with("model.num_heads", "8"), recurrent),
              ElementsAre(testing::Field(&FieldDifference::key, "model.architecture")));
}

TEST(Differences, OfTheSameThereAreNone) {
  EXPECT_TRUE(differences({}, {}).empty());
  EXPECT_EQ(title_of({}), "no difference");
}

TEST(OtherBatches, AreSaidInOneSentence) {
  EXPECT_EQ(other_batches(with("model.positions", "rope"), {}), "");
  EXPECT_THAT(other_batches(with("training.seed", "2"), {}), testing::HasSubstr("differ in “Seed” (2 and 1)"));
  EXPECT_THAT(other_batches(with("corpus.source", "copy"), {}), testing::HasSubstr("corpora"));
  EXPECT_THAT(other_batches(with("tokenizer.vocab_size", "100"), {}), testing::HasSubstr("tokenizers"));
}

TEST(MovedAlong, WhatIsComparedStaysDifferent) {
  const Config before, other = with("model.dropout", "0.5");
  const Config after = with("model.dropout", "0.2", with("training.label_smoothing", "0"));
  const Config moved = moved_along(other, before, after);
  EXPECT_EQ(moved.model.dropout, 0.5);
  EXPECT_EQ(moved.training.label_smoothing, 0);
}

}  // namespace
}  // namespace attnscope
