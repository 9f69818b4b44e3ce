// Kernel regression, the pooling it becomes when it is learned, and scores that are divided by √d, against closed
// forms.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "analysis/cell_memory.h"
#include "analysis/kernel_regression.h"
#include "analysis/learned_pooling.h"
#include "analysis/normal_random.h"
#include "analysis/score_scaling.h"
#include "messages/cost.h"

namespace attnscope {
namespace {

const KeyedValues three{{0, 1, 3}, {10, 20, 40}};

std::vector<double> row_of(const Matrix& matrix, int row) {
  std::vector<double> values;
  for (int col = 0; col < matrix.cols; ++col) values.push_back(static_cast<double>(matrix.at(row, col)));
  return values;
}

std::vector<double> weights_at(double x, Kernel kernel, double width, const KeyedValues& known = three) {
  return row_of(kernel_fit(known, std::vector{x}, kernel, width, 1).weights, 0);
}

void expect_near(const std::vector<double>& seen, const std::vector<double>& expected, double by = 1e-6) {
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], expected[i], by) << i;
}

TEST(NormalRandom, HasTheMomentsOfANormalDistribution) {
  NormalRandom random(1);
  constexpr int count = 100'000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < count; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / count, 0, 4 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 4 * std::sqrt(2.0 / count));
  EXPECT_NEAR(fourth / count, 3, 4 * std::sqrt(96.0 / count));
}

// ---- kernels

TEST(KernelRegression, WeightsAreTheClosedForms) {
  // x = 0.5, h = 1: the keys 0, 1 and 3 are 0.5, 0.5 and 2.5 away.
  const double near = std::exp(-0.125), far = std::exp(-3.125), sum = 2 * near + far;
  expect_near(weights_at(0.5, Kernel::gaussian, 1), {near / sum, near / sum, far / sum});
  expect_near(weights_at(0.5, Kernel::constant, 1), {1 / 3.0, 1 / 3.0, 1 / 3.0});
  expect_near(weights_at(0.5, Kernel::boxcar, 1), {0.5, 0.5, 0});
  // x = 0.25, h = 1: 0.25 and 0.75 away.
  expect_near(weights_at(0.25, Kernel::triangle, 1), {0.75, 0.25, 0});
  expect_near(weights_at(0.25, Kernel::epanechikov, 1), {0.9375 / 1.375, 0.4375 / 1.375, 0});
}

TEST(KernelRegression, AGaussianIsASoftmaxOfMinusTheSquaredDistance) {
  const double h = 0.5, x = 1.7;
  std::vector<double> expected;
  double sum = 0;
  for (const double key : three.keys) sum += expected.emplace_back(std::exp(-std::pow((x - key) / h, 2) / 2));
  for (double& weight : expected) weight /= sum;
  expect_near(weights_at(x, Kernel::gaussian, h), expected);
  expect_near(row_of(pooling_weights(first_pooling(PoolingStep::kernel, h, 1), 0, std::vector{x}, three.keys), 0),
              expected);
}

TEST(KernelRegression, TheWidestKernelIsAveragePooling) {
  for (const Kernel kernel : {Kernel::gaussian, Kernel::boxcar, Kernel::epanechikov, Kernel::triangle})
    expect_near(weights_at(2, kernel, 1e5), weights_at(2, Kernel::constant, 1), 1e-4);
}

TEST(KernelRegression, WithoutAKeyWithinReachThereIsNoEstimate) {
  const KernelFit fit = kernel_fit(three, std::vector{2.0, 4.9}, Kernel::boxcar, 0.5, 1);
  EXPECT_TRUE(std::isnan(fit.estimates[0]));
  expect_near(row_of(fit.weights, 0), {0, 0, 0});
  EXPECT_EQ(fit_error(fit).without, 2U);
  EXPECT_TRUE(std::isnan(fit_error(fit).clean));
  // A Gaussian reaches everywhere, however narrow: the nearest key has it all.
  expect_near(weights_at(2.1, Kernel::gaussian, 1e-3), {0, 0, 1});
  EXPECT_TRUE(std::isnan(kernel_fit({}, std::vector{1.0}, Kernel::gaussian, 1, 1).estimates[0]));
}

TEST(KernelRegression, SamplesAreOrderedAndTheSameEveryTime) {
  const KeyedValues sample = sample_values(40, 1, 3);
  EXPECT_EQ(sample.size(), 40U);
  EXPECT_TRUE(std::ranges::is_sorted(sample.keys));
  EXPECT_GE(sample.keys.front(), 0);
  EXPECT_LE(sample.keys.back(), last_key);
  EXPECT_EQ(sample, sample_values(40, 1, 3));
  const KeyedValues clean = sample_values(5, 0, 3);
  for (std::size_t i = 0; i < clean.size(); ++i)
    EXPECT_DOUBLE_EQ(clean.values[i], 2 * std::sin(clean.keys[i]) + clean.keys[i]);
}

// Many draws of the noise come to what was expected of them.
TEST(KernelRegression, BiasAndVarianceAreWhatTheNoiseMakesOfTheFit) {
  const std::vector<double> keys = sample_values(40, 1, 1).keys;
  const std::vector<double> queries = {0.7, 2.3, 4.1};
  const double noise = 0.8;
  constexpr int draws = 4000;
  std::vector<double> sums(3), squares(3);
  NormalRandom random(9);
  KernelFit fit;
  for (int draw = 0; draw < draws; ++draw) {
    KeyedValues known{keys, {}};
    for (const double x : keys) known.values.push_back(clean_value(x) + noise * random.normal());
    fit = kernel_fit(known, queries, Kernel::epanechikov, 0.9, noise);
    for (std::size_t i = 0; i < 3; ++i) {
      const double error = fit.estimates[i] - clean_value(queries[i]);
      sums[i] += error;
      squares[i] += error * error;
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const double mean = sums[i] / draws, variance = squares[i] / draws - mean * mean;
    EXPECT_NEAR(mean, fit.bias[i], 4 * fit.deviation[i] / std::sqrt(draws)) << i;
    EXPECT_NEAR(variance / std::pow(fit.deviation[i], 2), 1, 4 * std::sqrt(2.0 / draws)) << i;
  }
  const auto mean_square = [](const std::vector<double>& x) {
    return (std::pow(x[0], 2) + std::pow(x[1], 2) + std::pow(x[2], 2)) / 3;
  };
  EXPECT_NEAR(fit_error(fit).variance, mean_square(fit.deviation), 1e-12);
  EXPECT_NEAR(fit_error(fit).squared_bias, mean_square(fit.bias), 1e-12);
}

TEST(KernelRegression, AKeyLeftOutIsPredictedFromTheOthers) {
  // Constant: 30, 25 and 15 against 10, 20 and 40.
  EXPECT_NEAR(left_out_error(three, Kernel::constant, 1), (400.0 + 25.0 + 625.0) / 3, 1e-9);
  EXPECT_TRUE(std::isnan(left_out_error({{1}, {2}}, Kernel::gaussian, 1)));
  EXPECT_NEAR(left_out_error(three, Kernel::gaussian, 0.7),
              pooling_loss(first_pooling(PoolingStep::kernel, 0.7, 1), three), 1e-9);
}

// ---- learned

TEST(LearnedPooling, ProjectionsBeginAsTheKernel) {
  const std::vector<double> queries = regression_queries();
  const std::vector<double> keys = sample_values(40, 1, 1).keys;
  const Matrix kernel = pooling_weights(first_pooling(PoolingStep::width, 0.6, 1), 0, queries, keys);
  const Matrix projected = pooling_weights(first_pooling(PoolingStep::projections, 0.6, 1), 0, queries, keys);
  for (std::size_t i = 0; i < kernel.values.size(); ++i) EXPECT_NEAR(kernel.values[i], projected.values[i], 1e-5);
}

TEST(LearnedPooling, AScoreIsTheProductOfQueryAndKeyOverTheRoot) {
  const LearnedPooling pooling = first_pooling(PoolingStep::heads, 0.5, 4);
  const auto q = projected(pooling, 2, false, 1.5), k = projected(pooling, 2, true, 4);
  EXPECT_NEAR(pooling_score(pooling, 2, 1.5, 4), (q[0] * k[0] + q[1] * k[1]) / std::numbers::sqrt2, 1e-12);
  EXPECT_THAT(head_mix(pooling), testing::Each(testing::DoubleEq(1.0 / pooling_heads)));
}

TEST(LearnedPooling, SeveralHeadsAreAddedAsTheyAreMixed) {
  LearnedPooling pooling = first_pooling(PoolingStep::heads, 0.5, 4);
  const std::vector<double> queries = {1.2};
  double expected = 0;
  for (int head = 0; head < pooling_heads; ++head) {
    pooling.parameters[pooling.parameters.size() - pooling_heads + static_cast<std::size_t>(head)] = head + 1;
    const std::vector<double> weights = row_of(pooling_weights(pooling, head, queries, three.keys), 0);
    for (std::size_t i = 0; i < 3; ++i) expected += (head + 1) * weights[i] * three.values[i];
  }
  EXPECT_NEAR(pooling_estimates(pooling, queries, three)[0], expected, 1e-5);
}

TEST(LearnedPooling, GradientsAreThoseOfFiniteDifferences) {
  const KeyedValues known = sample_values(9, 1, 2);
  NormalRandom random(5);
  for (const PoolingStep step : {PoolingStep::width, PoolingStep::projections, PoolingStep::heads}) {
    LearnedPooling pooling = first_pooling(step, 0.8, 1);
    for (double& parameter : pooling.parameters) parameter += 0.3 * random.normal();
    std::vector<double> gradient;
    pooling_loss(pooling, known, &gradient);
    ASSERT_EQ(gradient.size(), pooling.parameters.size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      constexpr double by = 1e-5;
      LearnedPooling up = pooling, down = pooling;
      up.parameters[i] += by;
      down.parameters[i] -= by;
      const double slope = (pooling_loss(up, known) - pooling_loss(down, known)) / (2 * by);
      EXPECT_NEAR(gradient[i], slope, 1e-6 * std::max(1.0, std::abs(slope))) << static_cast<int>(step) << " " << i;
    }
  }
}

// The best of all widths, found by trying them.
TEST(LearnedPooling, DescentFindsTheBestWidth) {
  const KeyedValues known = sample_values(40, 1, 1);
  double best = INFINITY, best_width = 0;
  for (double width = 0.05; width < 3; width *= 1.01) {
    const double error = left_out_error(known, Kernel::gaussian, width);
    if (error >= best) continue;
    best = error;
    best_width = width;
  }
  LearnedPooling pooling = first_pooling(PoolingStep::width, 2, 1);
  PoolingDescent descent;
  for (int i = 0; i < 2000; ++i) descent.update(pooling, known, 0.02);
  EXPECT_NEAR(pooling_loss(pooling, known), best, 1e-3 * best);
  EXPECT_NEAR(1 / pooling.parameters[0], best_width, 0.03 * best_width);
}

TEST(LearnedPooling, EachStepLearnsToFitNoWorse) {
  const KeyedValues known = sample_values(40, 1, 1);
  double before = INFINITY;
  for (const PoolingStep step :
       {PoolingStep::kernel, PoolingStep::width, PoolingStep::projections, PoolingStep::heads}) {
    LearnedPooling pooling = first_pooling(step, 1, 1);
    PoolingDescent descent;
    for (int i = 0; i < 3000; ++i) descent.update(pooling, known, 0.02);
    const double loss = pooling_loss(pooling, known);
    EXPECT_LT(loss, before + 1e-9) << static_cast<int>(step);
    before = loss;
  }
}

TEST(LearnedPooling, WithOneKeyThereIsNothingToLearn) {
  LearnedPooling pooling = first_pooling(PoolingStep::width, 1, 1);
  const KeyedValues one{{1}, {2}};
  EXPECT_TRUE(std::isnan(PoolingDescent().update(pooling, one, 0.1)));
  EXPECT_EQ(pooling.parameters, std::vector<double>{1});
  EXPECT_NEAR(pooling_estimates(pooling, std::vector{4.0}, one)[0], 2, 1e-6);
  EXPECT_TRUE(std::isnan(pooling_estimates(pooling, std::vector{4.0}, {})[0]));
}

// ---- √d

TEST(ScoreScaling, ProductsHaveTheVarianceD) {
  const ScoreSample sample(64, 1);
  for (const int d : {1, 2, 8, 64, 512}) {
    const ScaledScores scores = sample.scores(d);
    // Products share their queries and keys: of the squared lengths of 64 keys the relative deviation is √(2/64d).
    const double rows = sample.queries(), cols = sample.keys();
    const double deviation = std::sqrt(2 / (rows * d) + 2 / (cols * d) + (d == 1 ? 8.0 : 2.0) / (rows * cols));
    EXPECT_NEAR(scores.variance / d, 1, 4 * deviation) << d;
    EXPECT_NEAR(scores.mean, 0, 4 * std::sqrt(d / cols / rows) * 4) << d;
  }
}

TEST(ScoreScaling, DividedTheSoftmaxStaysWideAndLetsGradientsThrough) {
  const ScoreSample sample(16, 1);
  const ScaledScores one = sample.scores(1), many = sample.scores(512);
  EXPECT_NEAR(many.of_divided.entropy, one.of_divided.entropy, 0.2);
  EXPECT_GT(many.of_divided.entropy, 2);
  EXPECT_LT(many.of_plain.entropy, 0.3);
  EXPECT_LT(many.of_plain.jacobian, many.of_divided.jacobian);
  EXPECT_FLOAT_EQ(one.plain.at(3, 4), one.divided.at(3, 4)) << "√1 = 1";
  for (int row = 0; row < many.divided.rows; ++row) {
    float sum = 0;
    for (int col = 0; col < many.divided.cols; ++col) sum += many.divided.at(row, col);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(ScoreScaling, DividedMeansBySqrtD) {
  const ScaledScores scores = ScoreSample(4, 2).scores(25);
  double sum = 0;
  for (int col = 0; col < 4; ++col) sum += std::exp(static_cast<double>(scores.products.at(7, col)) / 5);
  EXPECT_NEAR(scores.divided.at(7, 2), std::exp(static_cast<double>(scores.products.at(7, 2)) / 5) / sum, 1e-5);
}

TEST(ScoreScaling, TheNormOfTheJacobianIsThatOfItsCells) {
  const std::vector<float> p = {0.5F, 0.3F, 0.15F, 0.05F};
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (std::size_t j = 0; j < p.size(); ++j) {
      const double cell = static_cast<double>(p[i]) * ((i == j ? 1.0 : 0.0) - static_cast<double>(p[j]));
      sum += cell * cell;
    }
  }
  EXPECT_NEAR(jacobian_norm(p), std::sqrt(sum), 1e-7);
  EXPECT_NEAR(jacobian_norm(std::vector<float>{1, 0, 0}), 0, 1e-12) << "saturated";
  EXPECT_NEAR(jacobian_norm(std::vector<float>{0.5F, 0.5F}), 0.5, 1e-7);
}

TEST(ScoreScaling, TheVarianceOfProductsIsThatOfAllPairs) {
  Matrix q(2, 2), k(1, 2);
  q.values = {1, 2, 3, 4};
  k.values = {5, 6};
  EXPECT_NEAR(product_variance(q, k), 11 * 11, 1e-3) << "of 17 and 39";
}

TEST(ScoreScaling, TheDensityIsOne) {
  double sum = 0;
  for (double x = -60; x < 60; x += 0.01) sum += 0.01 * normal_density(x, 49);
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_NEAR(normal_density(0, 1), 0.3989423, 1e-6);
}

// ---- memory of a cell

RecurrentStates gated(const std::string& cell, const std::string& symbol, std::vector<float> steps, int units) {
  RecurrentStates inspection;
  inspection.cell = cell;
  inspection.h = Matrix(static_cast<int>(steps.size()) / units, units);
  inspection.h.values = steps;
  inspection.gates.push_back({symbol, symbol, {}, {}, inspection.h});
  return inspection;
}

TEST(CellMemory, IsTheGeometricMeanOfTheGate) {
  const RecurrentStates lstm = gated("lstm", "f", {0.5F, 0.9F, 0.5F, 0.4F, 0.5F, 0.6F}, 2);
  EXPECT_NEAR(kept_share(lstm, 0), 0.5, 1e-6);
  EXPECT_NEAR(kept_share(lstm, 1), std::cbrt(0.9 * 0.4 * 0.6), 1e-6);
  EXPECT_EQ(by_memory(lstm), (std::vector<int>{1, 0}));
  EXPECT_NEAR(half_life(0.5), 1, 1e-12);
  EXPECT_NEAR(half_life(std::sqrt(0.5)), 2, 1e-9);
  EXPECT_EQ(half_life(0), 0);
  EXPECT_TRUE(std::isinf(half_life(1)));
  EXPECT_NEAR(kept_share(gated("gru", "z", {0.25F, 1}, 1), 0), 0.5, 1e-6);
}

TEST(CellMemory, OfAnRnnIsHowAlikeStepsAre) {
  EXPECT_EQ(kept_share(gated("rnn", "h", {1, -1, 1, -1}, 1), 0), 0) << "to and fro";
  EXPECT_NEAR(kept_share(gated("rnn", "h", {1, 1, -1, -1}, 1), 0), 0.25, 1e-6) << "1·1 − 1·1 + 1·1 of 4";
  EXPECT_EQ(kept_share(gated("rnn", "h", {1, 1, 1}, 1), 0), 0) << "nothing varies";
}

// ---- cost

TEST(Cost, ExponentsAreThoseOfThePower) {
  const std::vector<double> sizes = {16, 32, 64, 128};
  EXPECT_NEAR(fitted_exponent(sizes, std::vector<double>{9, 9, 64, 256}), 2, 1e-9) << "of the upper half";
  EXPECT_EQ(fitted_exponent(sizes, std::vector<double>{0, 0, 0, 0}), 0);
  EXPECT_EQ(fitted_exponent({}, {}), 0);
  EXPECT_EQ(fitted_exponent(std::vector<double>{16}, std::vector<double>{1}), 0);
}

TEST(Cost, ProjectionsAndScoresMeetAtTwiceTheWidth) {
  const std::int64_t d = 128, n = crossing(d);
  EXPECT_EQ(n, 256);
  EXPECT_EQ(multiplications(CostLayer::self_attention, n, d, "lstm"), 2.0 * 4 * 256 * 128 * 128);
  EXPECT_EQ(multiplications(CostLayer::recurrent, 10, 8, "lstm"), 8.0 * 10 * 64);
  EXPECT_EQ(multiplications(CostLayer::convolution, 10, 8, ""), 3.0 * 10 * 64);
}

}  // namespace
}  // namespace attnscope
