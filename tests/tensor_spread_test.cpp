// How the numbers of a model's tensors are spread, against torch, against updates that are made, and of broken models.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "inspect/evaluation/tensor_spread.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"
#include "training/validation.h"

namespace attnscope {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(TensorSpread, IsWhatTorchSays) {
  torch::manual_seed(4);
  const torch::Tensor values = torch::randn({37, 11}, torch::kFloat64);
  const TensorSpread spread = spread_of(values);
  EXPECT_EQ(spread.count, 37 * 11);
  EXPECT_NEAR(spread.norm, values.norm().item<double>(), 1e-9);
  EXPECT_NEAR(spread.mean, values.mean().item<double>(), 1e-9);
  for (std::size_t i = 0; i < spread_levels.size(); ++i)
    EXPECT_NEAR(spread.quantiles[i], torch::quantile(values.flatten(), spread_levels[i]).item<double>(), 1e-9) << i;
  float counted = 0;
  for (const float count : spread.histogram) counted += count;
  EXPECT_EQ(counted, 37 * 11);
  const double middle = (spread.least() + spread.largest()) / 2;
  float below = 0;
  for (std::size_t i = 0; i < spread.histogram.size() / 2; ++i) below += spread.histogram[i];
  EXPECT_LE(below, (values < middle).sum().item<float>());
  EXPECT_EQ(spread.zeros, 0);
}

TEST(TensorSpread, CountsWhatIsNoughtAndWhatIsNoNumber) {
  torch::Tensor values = torch::arange(1, 13, torch::kFloat32).reshape({3, 4});
  values.select(1, 2).zero_();  // a silent column
  values[0][0] = 0;
  values[1][1] = std::numeric_limits<float>::quiet_NaN();
  values[2][3] = std::numeric_limits<float>::infinity();
  const TensorSpread spread = spread_of(values);
  EXPECT_NEAR(spread.zeros, 4.0 / 12, 1e-9);
  EXPECT_NEAR(spread.not_finite, 2.0 / 12, 1e-9);
  EXPECT_NEAR(spread.silent, 1.0 / 4, 1e-9);
  EXPECT_EQ(spread.least(), 0);
  EXPECT_EQ(spread.largest(), 10);  // of the finite ones
  EXPECT_EQ(spread_of(torch::zeros({0, 3})).count, 0);
  EXPECT_EQ(spread_of(torch::full({}, 2.5F)).quantiles[3], 2.5);
  EXPECT_TRUE(spread_of(torch::full({3}, NAN)).histogram.empty());
  const TensorSpread same = spread_of(torch::ones({5}));
  EXPECT_EQ(same.histogram[same.histogram.size() / 2], 5);
}

class Tensors : public testing::Test {
 protected:
  void begin(const Config& config) {
    engine.reset(config, {});
    engine.probe({.request = 1, .text = "a b"}, [](auto) {}, {});
  }
  TensorsResult inspect(const std::string& text = "a b c") {
    return engine.tensors({text}, [](double) {});
  }
  static const TensorHistory& of(const std::vector<TensorHistory>& list, const std::string& name) {
    const auto found = std::ranges::find(list, name, &TensorHistory::name);
    if (found == list.end()) throw std::out_of_range(name);
    return *found;
  }

  TorchEngine engine;
};

// ∂L/∂w by the difference of two passes.
TEST_F(Tensors, GradientsAreThoseOfTheBatchsLoss) {
  begin(tiny_config());
  const Batch batch = validation_batches(engine.model(), *engine.dataset(), 8).front();
  const std::vector<torch::Tensor> gradients = parameter_gradients(engine.model(), batch);
  engine.model().check_standing_still();
  auto named = engine.model().named_parameters();
  const torch::NoGradGuard no_grad;
  const auto loss = [&] {
    const Memory memory = engine.model().encode(batch.source, batch.source_padding);
    return engine.model().loss(engine.model().decode(batch.target_in, memory), batch.target_out, 0).item<double>();
  };
  int compared = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    torch::Tensor& parameter = named[i].value();
    EXPECT_FALSE(parameter.requires_grad());
    EXPECT_FALSE(parameter.grad().defined());
    const std::int64_t at = gradients[i].flatten().abs().argmax().item<std::int64_t>();
    float& value = parameter.data_ptr<float>()[at];
    const float before = value;
    constexpr float step = 1e-2F;
    value = before + step;
    const double up = loss();
    value = before - step;
    const double down = loss();
    value = before;
    const double wanted = gradients[i].flatten()[at].item<double>();
    EXPECT_NEAR((up - down) / (2 * step), wanted, 0.05 * std::abs(wanted) + 2e-4) << named[i].key();
    ++compared;
  }
  EXPECT_GT(compared, 20);
  // Only their distributions are compared.
  const TensorsResult told = inspect();
  EXPECT_NEAR(told.parameters[3].points.back().gradient.norm, gradients[3].norm().item<double>(), 1e-5);
}

TEST_F(Tensors, UpdatesAreThoseThatWereMade) {
  Config config = tiny_config();
  config.training.schedule = "constant";
  config.training.learning_rate = 0.01;
  config.training.warmup_steps = 1;
  begin(config);
  for (int step = 0; step < 3; ++step) engine.train_step({});
  engine.record_weights();
  std::vector<torch::Tensor> before;
  for (const torch::Tensor& parameter : engine.model().parameters()) before.push_back(parameter.detach().clone());
  engine.train_step({});
  const TensorsResult told = inspect();
  const auto after = engine.model().named_parameters();
  for (std::size_t i = 0; i < before.size(); ++i) {
    const TensorHistory& history = told.parameters[i];
    ASSERT_EQ(history.name, after[i].key());
    const double change = (after[i].value() - before[i]).norm().item<double>();
    EXPECT_NEAR(history.last_update, change / after[i].value().norm().item<double>(), 1e-3 * history.last_update + 1e-7)
        << history.name;
    ASSERT_THAT(history.points, SizeIs(2));
    EXPECT_EQ(history.points[0].step, 3);
    EXPECT_NEAR(history.points[1].change, change / before[i].norm().item<double>(), 1e-4) << history.name;
    EXPECT_EQ(history.points[0].change, 0);
  }
}

// Steps that undo each other add up to nothing: what is measured between two records is the net displacement.
TEST_F(Tensors, BetweenRecordsOnlyTheNetDisplacementIsKnown) {
  TensorHistory history{.name = "w", .shape = {2, 2}, .points = std::vector<TensorPoint>(2)};
  history.points.back().change = 0.2;
  TensorsResult result{.question = {}, .parameters = {history}};
  EXPECT_THAT(findings(result),
              testing::ElementsAre(HasSubstr("between two recorded steps it moves by 20 % per step")));
  result.parameters[0].last_update = 0.3;
  EXPECT_THAT(findings(result), testing::ElementsAre(HasSubstr("one step changes it by 30 %")));
}

TEST_F(Tensors, GradientsNameTheirSample) {
  begin(tiny_config());
  const TensorsResult told = inspect();
  EXPECT_EQ(told.gradient_rows, 8);
  EXPECT_GT(told.gradient_tokens, told.gradient_rows);
}

// A bias begins at nought: its first update is all of it, and nothing is wrong.
TEST_F(Tensors, TheFirstUpdateIsNothingToWarnOf) {
  begin(tiny_config());
  engine.train_step({});
  const TensorsResult told = inspect();
  EXPECT_GT(of(told.parameters, "encoder.layers.0.self_attn.out_proj.bias").last_update, 0.9);
  EXPECT_THAT(findings(told), IsEmpty());
}

TEST_F(Tensors, OfAnOpenedRunUpdatesAreThoseOfItsMoments) {
  begin(tiny_config());
  for (int step = 0; step < 4; ++step) engine.train_step({});
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("attnscope_tensors_" + std::to_string(getpid()));
  engine.save_run(folder.string());
  TorchEngine opened;
  opened.open_run(folder.string(), {});
  const TensorsResult wanted = inspect(), told = opened.tensors({"a b c"}, [](double) {});
  for (std::size_t i = 0; i < wanted.parameters.size(); ++i) {
    EXPECT_GT(told.parameters[i].last_update, 0);
    EXPECT_NEAR(told.parameters[i].last_update, wanted.parameters[i].last_update, 1e-9);
  }
  std::filesystem::remove_all(folder);
}

TEST_F(Tensors, AreOfEveryArchitecture) {
  for (const char* architecture : {"encoder-decoder", "decoder-only", "recurrent"}) {
    Config config = tiny_config();
    config.model.architecture = architecture;
    begin(config);
    const TensorsResult told = inspect();
    EXPECT_EQ(told.no_gradients, "") << architecture;
    EXPECT_EQ(told.parameters.size(), engine.model().parameters().size());
    EXPECT_THAT(told.activations, SizeIs(testing::Ge(3U))) << architecture;
    EXPECT_EQ(told.activations.back().name, "logits");
    for (const TensorHistory& history : told.activations) EXPECT_GT(history.points.back().values.norm, 0);
    EXPECT_THAT(findings(told), IsEmpty()) << architecture;
    EXPECT_THAT(inspect("").activations, IsEmpty());
  }
}

TEST_F(Tensors, ADeadLayerIsNamed) {
  begin(tiny_config());
  {
    const torch::NoGradGuard no_grad;
    engine.model().named_parameters()["encoder.layers.0.linear1.bias"].fill_(-1000);
  }
  const TensorsResult told = inspect();
  EXPECT_EQ(of(told.activations, "encoder layer 1 feed-forward, hidden units").points.back().values.silent, 1);
  EXPECT_THAT(findings(told), Contains("encoder layer 1 feed-forward, hidden units: 0 for every token"));
  EXPECT_THAT(findings(told),
              Contains("gradient of encoder.layers.0.linear1.weight: 0 everywhere, so this tensor is not trained"));
  EXPECT_THAT(findings(told), Not(Contains(HasSubstr("decoder layer 1 feed-forward, hidden"))));
}

TEST_F(Tensors, NumbersThatAreNoneComeFirst) {
  begin(tiny_config());
  {
    const torch::NoGradGuard no_grad;
    engine.model().named_parameters()["decoder.layers.0.norm1.weight"][0] = NAN;
  }
  const TensorsResult told = inspect();
  EXPECT_NEAR(of(told.parameters, "decoder.layers.0.norm1.weight").points.back().values.not_finite, 1.0 / 16, 1e-9);
  EXPECT_EQ(findings(told).front(), "decoder.layers.0.norm1.weight: 6.2 % NaN or infinite");
  EXPECT_THAT(findings(told), Contains("gradient of encoder.layers.0.linear1.weight: 100.0 % NaN or infinite"));
}

TEST_F(Tensors, LookingChangesNothingOfTheTraining) {
  TorchEngine other;
  other.reset(tiny_config(), {});
  engine.reset(tiny_config(), {});
  for (int step = 0; step < 3; ++step) {
    other.train_step({});
    engine.train_step({});
    inspect();
  }
  const auto one = engine.model().parameters(), two = other.model().parameters();
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(one[i].equal(two[i]));
}

TEST_F(Tensors, CanBeGivenUp) {
  begin(tiny_config());
  EXPECT_THROW(engine.tensors({"a b"}, [](double) { throw Cancelled(); }), Cancelled);
}

}  // namespace
}  // namespace attnscope
