// Differences between snapshots before and after a change, with known answers.
#include "analysis/snapshot_difference.h"

#include <gmock/gmock.h>

#include <cmath>

namespace attnscope {
namespace {

std::vector<std::string> differing(const std::vector<ComparedWord>& words) {
  std::vector<std::string> found;
  for (const ComparedWord& word : words) {
    if (word.differs) found.push_back(word.word);
  }
  return found;
}

GoldStep gold(const Token& token, float probability) {
  GoldStep step;
  step.token = token;
  step.probability = probability;
  return step;
}

Candidate candidate(const Token& token, float probability) {
  Candidate made;
  made.token = token;
  made.probability = probability;
  return made;
}

Matrix matrix(int rows, int cols, std::vector<float> values) {
  Matrix made(rows, cols);
  made.values = std::move(values);
  return made;
}

TEST(CompareWords, WordsInBothInTheSameOrderDoNotDiffer) {
  SnapshotDifference difference;
  compare_words("la rue parce qu'elle est large", "la rue car il est large", difference);
  EXPECT_THAT(differing(difference.before), testing::ElementsAre("parce", "qu'elle"));
  EXPECT_THAT(differing(difference.after), testing::ElementsAre("car", "il"));
  compare_words("a b", "b a", difference);
  EXPECT_EQ(differing(difference.before).size(), 1U);
  EXPECT_EQ(differing(difference.after).size(), 1U);
  compare_words("", "a", difference);
  EXPECT_TRUE(difference.before.empty());
  EXPECT_THAT(differing(difference.after), testing::ElementsAre("a"));
}

class SnapshotDifferenceTest : public testing::Test {
 protected:
  SnapshotDifferenceTest() {
    before.source = {{1, "a"}, {2, "b"}};
    before.target_in = {{9, "<s>"}, {5, "x"}};
    before.target_out = {{5, "x"}, {3, "</s>"}};
    before.encoder = {{matrix(2, 2, {1, 0, 0.5F, 0.5F}), matrix(2, 2, {0.5F, 0.5F, 0.5F, 0.5F})}};
    before.cross = {{matrix(2, 2, {1, 0, 1, 0})}};
    after = before;
  }

  SnapshotDifference found() {
    after.untouched = std::make_shared<const Snapshot>(before);
    return snapshot_difference(after);
  }

  Snapshot before, after;
};

TEST_F(SnapshotDifferenceTest, TheLargestChangeHasItsPlaceAndBothWeights) {
  EXPECT_FALSE(found().largest) << "nothing moved";
  after.encoder[0][1] = matrix(2, 2, {0.5F, 0.5F, 0.75F, 0.25F});
  after.encoder[0][0].at(0, 1) = 0.1F;
  const auto largest = found().largest;
  ASSERT_TRUE(largest);
  EXPECT_EQ(largest->place, (HeadPlace{AttentionPart::encoder, 0, 1}));
  EXPECT_EQ(largest->query, 1);
  EXPECT_FLOAT_EQ(largest->before, 0.5F);
  EXPECT_FLOAT_EQ(std::abs(largest->after - largest->before), 0.25F);
}

TEST_F(SnapshotDifferenceTest, WhatWasSetByHandIsNoNews) {
  after.encoder[0][1] = matrix(2, 2, {0, 1, 0.6F, 0.4F});
  after.interventions.forced = {{{AttentionPart::encoder, 0, 1}, 0, 1}};
  EXPECT_EQ(found().largest->query, 1);
  after.interventions.layers_off = {{false, 0}};
  EXPECT_FALSE(found().largest);
}

TEST_F(SnapshotDifferenceTest, RowsThatSawOtherWordsAreNotCompared) {
  after.cross[0][0] = matrix(2, 2, {0.9F, 0.1F, 0, 1});
  EXPECT_EQ(found().largest->query, 1);
  after.target_in[1] = {6, "y"};
  EXPECT_EQ(found().largest->query, 0);
}

TEST_F(SnapshotDifferenceTest, TheReferencesProbabilityIsSummedInLogarithms) {
  before.gold = {gold({5, "x"}, 0.5F), gold({3, "</s>"}, 0.25F)};
  after.gold = {gold({5, "x"}, 0.1F), gold({3, "</s>"}, 0.25F)};
  const SnapshotDifference difference = found();
  EXPECT_TRUE(difference.reference);
  EXPECT_NEAR(difference.log_prob_before, std::log(0.125), 1e-6);
  EXPECT_NEAR(difference.log_prob_after, std::log(0.025), 1e-6);
}

TEST_F(SnapshotDifferenceTest, WithoutAReferenceItIsWhatTheUntouchedModelWrote) {
  before.decoding.resize(2);
  before.decoding[0].candidates = {candidate({5, "x"}, 0.8F)};
  before.decoding[1].candidates = {candidate({7, "z"}, 0.6F), candidate({3, "</s>"}, 0.4F)};
  before.decoding[1].chosen = 1;
  after.gold = {gold({5, "x"}, 0.1F), gold({3, "</s>"}, 0.2F)};
  const SnapshotDifference difference = found();
  EXPECT_FALSE(difference.reference);
  EXPECT_THAT(difference.gold_before, testing::ElementsAre(0.8F, 0.4F));
}

}  // namespace
}  // namespace attnscope
