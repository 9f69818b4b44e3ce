// The arithmetic of one attention head, by hand.
#include "analysis/head_stages.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace attnscope {
namespace {

Matrix matrix(int rows, int cols, std::vector<float> values) {
  Matrix made(rows, cols);
  made.values = std::move(values);
  return made;
}

// Two queries, three keys, d = 4, one head of two.
HeadInside small_head() {
  HeadInside head;
  head.place = {AttentionPart::decoder, 0, 1};
  head.q = matrix(2, 4, {1, 0, 2, 0, 0, 3, 0, 1});
  head.k = matrix(3, 4, {1, 1, 1, 1, 2, 0, 0, 0, 0, 0, 0, 4});
  head.v = matrix(3, 4, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0});
  head.heads_output = Matrix(2, 8);
  head.w_o = Matrix(8, 8);
  for (int i = 0; i < 8; ++i) head.w_o.at(i, i) = 2;
  head.b_o = Matrix(1, 8);
  head.b_o.at(0, 7) = 5;
  return head;
}

TEST(HeadStages, ProductsScoresWeightsAndOutputAreThePapersFormula) {
  const HeadInside head = small_head();
  const HeadStages stages = head_stages(head, true, model_mask(head));
  EXPECT_THAT(stages.products.values, testing::ElementsAre(3, 2, 0, 4, 0, 4));
  EXPECT_THAT(stages.scores.values, testing::ElementsAre(1.5F, 1, 0, 2, 0, 2));  // √4 = 2
  const double sum = std::exp(1.5) + std::exp(1.0) + 1;
  EXPECT_NEAR(stages.weights.at(0, 0), std::exp(1.5) / sum, 1e-6);
  EXPECT_NEAR(stages.weights.at(0, 2), 1 / sum, 1e-6);
  EXPECT_NEAR(stages.output.at(0, 1), std::exp(1.0) / sum, 1e-6) << "v's rows are unit vectors";
}

TEST(HeadStages, WithoutScalingTheSoftmaxIsSharper) {
  const HeadInside head = small_head();
  const CellMask nothing(2, 3);
  const SoftmaxHealth scaled = softmax_health(head_stages(head, true, nothing).weights);
  const SoftmaxHealth plain = softmax_health(head_stages(head, false, nothing).weights);
  EXPECT_LT(plain.entropies[0], scaled.entropies[0]);
  EXPECT_LT(plain.gradients[0], scaled.gradients[0]);
}

TEST(HeadStages, HiddenCellsGetNothingAndARowHiddenWholeIsZero) {
  HeadInside head = small_head();
  head.causal = true;
  CellMask mask = model_mask(head);
  EXPECT_TRUE(mask.at(0, 1) && mask.at(0, 2) && mask.at(1, 2));
  EXPECT_FALSE(mask.at(0, 0) || mask.at(1, 0) || mask.at(1, 1));
  HeadStages stages = head_stages(head, true, mask);
  EXPECT_EQ(stages.masked.at(0, 1), -std::numeric_limits<float>::infinity());
  EXPECT_THAT(stages.weights.values, testing::ElementsAre(1, 0, 0, testing::FloatNear(0.880797F, 1e-5F),
                                                          testing::FloatNear(0.119203F, 1e-5F), 0));
  mask.set(0, 0, true);
  stages = head_stages(head, true, mask);
  EXPECT_EQ(stages.weights.at(0, 0), 0);
  EXPECT_EQ(stages.output.at(0, 0), 0);
}

TEST(HeadStages, BiasIsAddedAfterScaling) {
  HeadInside head = small_head();
  head.bias = matrix(2, 3, {0, 10, 0, 0, 0, 0});
  EXPECT_EQ(head_stages(head, true, CellMask(2, 3)).scores.at(0, 1), 11);
}

TEST(HeadStages, ProjectionReplacesThisHeadsColumnsOnly) {
  HeadInside head = small_head();
  head.heads_output.at(0, 0) = 7;  // of head 0
  const Matrix output = matrix(2, 4, {1, 2, 3, 4, 0, 0, 0, 0});
  const Matrix result = projected(head, output);
  EXPECT_THAT(std::vector<float>(result.values.begin(), result.values.begin() + 8),
              testing::ElementsAre(14, 0, 0, 0, 2, 4, 6, 13));
}

TEST(SoftmaxHealth, UniformRowsHaveLogEntropyAndCertainRowsNoGradient) {
  const SoftmaxHealth health = softmax_health(matrix(2, 4, {0.25F, 0.25F, 0.25F, 0.25F, 1, 0, 0, 0}));
  EXPECT_NEAR(health.entropies[0], std::log(4.0), 1e-6);
  EXPECT_EQ(health.entropies[1], 0);
  EXPECT_FLOAT_EQ(health.gradients[0], 0.1875F);
  EXPECT_EQ(health.gradients[1], 0);
}

}  // namespace
}  // namespace attnscope
