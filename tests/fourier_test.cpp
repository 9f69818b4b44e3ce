// The Fourier analysis of modular arithmetic, against embeddings and logits that are sums of cosines.
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "engine/torch_engine.h"
#include "inspect/evaluation/fourier.h"
#include "messages/metrics.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t n = 23;

torch::Tensor wave(const torch::Tensor& at, int k) {
  return (at.to(torch::kFloat64) * (2 * std::numbers::pi * k / n)).cos();
}

TEST(Fourier, ACosineHasOneFrequency) {
  const torch::Tensor row = torch::randn({1, 8}, torch::kFloat64);
  const std::vector<double> power = fourier_power(wave(torch::arange(n), 5).unsqueeze(1) * row + 3);
  ASSERT_EQ(power.size(), 11U);
  EXPECT_NEAR(power[4], 1, 1e-9);
  EXPECT_NEAR(std::accumulate(power.begin(), power.end(), 0.0), 1, 1e-9);
  EXPECT_THAT(key_frequencies(power), ElementsAre(5));
}

TEST(Fourier, RandomEmbeddingsHaveNoKeyFrequency) {
  torch::manual_seed(3);
  const std::vector<double> power = fourier_power(torch::randn({59, 64}));
  EXPECT_NEAR(std::accumulate(power.begin(), power.end(), 0.0), 1, 1e-6)
      << "an odd number of rows: all of the variance";
  EXPECT_THAT(key_frequencies(power), IsEmpty());
}

// logits[a, b, c] = Σ cos(2π k (a ± b − c) / n)
torch::Tensor exact_logits(std::vector<int> frequencies, bool minus) {
  const torch::Tensor all = torch::arange(n);
  const torch::Tensor sum =
      all.view({n, 1, 1}) + (minus ? -all : all).view({1, n, 1}) - all.view({1, 1, n});
  torch::Tensor logits = torch::zeros({n, n, n}, torch::kFloat64);
  for (const int k : frequencies) logits += 5 * wave(sum, k);
  return logits;
}

TEST(Fourier, TheLogitsOfAFourierModelAreThoseOfItsFrequencies) {
  const std::vector<int> key = {3, 7};
  for (const bool minus : {false, true}) {
    const torch::Tensor logits = exact_logits(key, minus);
    const FrequencySplit split = split_by_frequency(logits, key, minus);
    EXPECT_LT((split.restricted - logits).abs().max().item<double>(), 1e-9);
    EXPECT_LT(split.excluded.abs().max().item<double>(), 1e-9) << "only the mean, 0, is left";
    const FrequencySplit other = split_by_frequency(logits, std::vector{4}, minus);
    EXPECT_LT(other.restricted.abs().max().item<double>(), 1e-9);
    EXPECT_LT((other.excluded - logits).abs().max().item<double>(), 1e-9);
  }
  // The frequencies of a sum are not those of a difference.
  const FrequencySplit wrong = split_by_frequency(exact_logits(key, false), key, true);
  EXPECT_GT((wrong.restricted - exact_logits(key, false)).abs().max().item<double>(), 1);
}

Config modular_config(const std::string& operation) {
  Config config = tiny_config("modular");
  config.corpus.modulus = 11;
  config.corpus.operation = operation;
  config.corpus.held_out = 10;
  config.tokenizer.type = "word";
  config.model.architecture = "classifier";
  config.model.pooling = "last";
  config.model.norm_kind = "none";
  config.model.positions = "learned";
  return config;
}

TEST(Fourier, AnalyzesARunAtEveryRecordedStep) {
  for (const char* operation : {"+", "-", "*", "/", "x^2+y^2"}) {
    TorchEngine engine;
    engine.reset(modular_config(operation), {});
    engine.record_weights();
    for (int step = 0; step < 5; ++step) engine.train_step({});
    const FourierResult result = engine.fourier({.neuron = 3}, [](double) {});
    ASSERT_EQ(result.problem, "") << operation;
    const bool multiplies = *operation == '*' || *operation == '/';
    EXPECT_EQ(result.numbers.size(), multiplies ? 10U : 11U);
    EXPECT_EQ(result.multiplies, multiplies);
    EXPECT_EQ(result.has_losses, *operation != 'x');
    ASSERT_EQ(result.points.size(), 2U);
    EXPECT_EQ(result.points.back().step, 5);
    for (const FourierPoint& point : result.points)
      EXPECT_LT(point.loss, std::log(11) + 1) << "about what a guess among the results costs";
    EXPECT_EQ(result.num_neurons, 32);
    EXPECT_EQ(result.neuron.rows, static_cast<int>(result.numbers.size()));
    const MetricPoint point = engine.metrics().back();
    EXPECT_TRUE(point[metric("accuracy")]);
    EXPECT_TRUE(point[metric("validation_accuracy")]);
  }
}

TEST(Fourier, SaysWhatItIsFor) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  EXPECT_THAT(engine.fourier({}, [](double) {}).problem, HasSubstr("modular"));
}

}  // namespace
}  // namespace attnscope
