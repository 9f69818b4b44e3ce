// One update after another: what the losses depend on, and what they do not.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include "evaluation/evaluation.h"
#include "losses.h"
#include "run_fixture.h"
#include "training/schedule.h"
#include "training/trainer.h"
#include "training/validation.h"

namespace attnscope {
namespace {

// Pairs of different lengths that mean nothing.
std::shared_ptr<Dataset> random_pairs(int count) {
  auto dataset = std::make_shared<Dataset>();
  torch::manual_seed(5);
  for (int i = 0; i < count; ++i) {
    const torch::Tensor ids = torch::randint(4, 20, {11 + i}, torch::kInt32);
    const auto* id = ids.data_ptr<int>();
    dataset->train.push_back({{id, id + 6}, {id + 6, id + 11 + i}});
  }
  return dataset;
}

Config config_without_dropout() {
  Config config;
  config.model = {
      .d_model = 32, .num_heads = 4, .num_encoder_layers = 1, .num_decoder_layers = 1, .d_ff = 64, .dropout = 0};
  config.training.label_smoothing = 0;
  config.training.warmup_steps = 50;
  return config;
}

TEST(Training, OverfitsOneBatch) {
  const Config config = config_without_dropout();
  Trainer trainer(make_model(config.model, 20), config, random_pairs(8));
  double loss = 0;
  for (int i = 0; i < 250; ++i) loss = trainer.step({})[metric("loss")].value();
  EXPECT_LT(loss, 0.02);
}

TEST(Training, SmallBatchesAccumulatedAreOneLargeBatch) {
  const auto dataset = random_pairs(8);
  const auto step = [&](std::int64_t batch_size, std::int64_t accumulation_steps, Model& model) {
    Config config = config_without_dropout();
    config.training.batch_size = batch_size;
    config.training.accumulation_steps = accumulation_steps;
    config.training.clip_norm = 0;
    torch::manual_seed(3);
    model = make_model(config.model, 20);
    Trainer trainer(model, config, dataset);
    int breaths = 0;
    const double loss = trainer.step([&] { ++breaths; })[metric("loss")].value();
    EXPECT_GE(breaths, 2 * accumulation_steps);
    return loss;
  };
  Model whole, parts;
  EXPECT_NEAR(step(8, 1, whole), step(3, 3, parts), 1e-5);
  const auto expected = whole->parameters();
  const auto found = parts->parameters();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LE((expected[i].grad() - found[i].grad()).abs().max().item<double>(), 1e-5);
  }
}

// Losses of updates that change nothing, each on the same pairs: a learning rate of 0 leaves only dropout to differ.
std::vector<double> losses_standing_still(double dropout, std::int64_t accumulation_steps, int steps) {
  Config config = config_without_dropout();
  config.model.dropout = dropout;
  config.training.noam_factor = 0;
  config.training.accumulation_steps = accumulation_steps;
  torch::manual_seed(3);
  Trainer trainer(make_model(config.model, 20), config, random_pairs(8));
  std::vector<double> values;
  for (int i = 0; i < steps; ++i) values.push_back(trainer.step({})[metric("loss")].value());
  return values;
}

TEST(Training, EveryBatchHasADropoutMaskOfItsOwn) {
  EXPECT_THAT(losses_standing_still(0, 1, 4), testing::Each(losses_standing_still(0, 1, 1)[0]));
  const auto losses = losses_standing_still(0.5, 1, 8);
  EXPECT_THAT(std::set<double>(losses.begin(), losses.end()), testing::SizeIs(losses.size()));
  const auto of_two = losses_standing_still(0.5, 2, 4);
  for (std::size_t i = 0; i < of_two.size(); ++i)
    EXPECT_NEAR(of_two[i], (losses[2 * i] + losses[2 * i + 1]) / 2, 1e-6) << "batches of one update";
}

TEST(Training, WeightDecayIsForAdamWAlone) {
  const auto weights_after = [](const std::string& optimizer, double weight_decay) {
    Config config = config_without_dropout();
    config.training.optimizer = optimizer;
    config.training.weight_decay = weight_decay;
    torch::manual_seed(3);
    const Model model = make_model(config.model, 20);
    Trainer(model, config, random_pairs(8)).step({});
    return model->named_parameters()["embedding.weight"].clone();
  };
  EXPECT_TRUE(torch::equal(weights_after("adam", 0.5), weights_after("adam", 0)));
  EXPECT_TRUE(torch::equal(weights_after("adamw", 0), weights_after("adam", 0)));
  EXPECT_FALSE(torch::equal(weights_after("adamw", 0.5), weights_after("adam", 0)));
}

// A file is often sorted: here by length, and every pair stands in it twice.
TEST(Training, ValidationIsSpreadOverAllPairs) {
  const Config config = config_without_dropout();
  torch::manual_seed(3);
  const Model model = make_model(config.model, 20);
  const auto dataset = random_pairs(16);
  std::vector<EncodedPair> once;
  for (const EncodedPair& pair : dataset->train) once.insert(once.end(), 32, pair);
  for (const EncodedPair& pair : once) dataset->validation.insert(dataset->validation.end(), 2, pair);
  model->stand_still();
  EXPECT_NEAR(validate(*model, *dataset, 8, {}), negative_log_likelihood(*model, once, 64, {}).per_token(), 1e-6);
}

TEST(Training, TheSameSeedGivesTheSameLosses) {
  TorchEngine a, b, c;
  a.reset(tiny_config(), {});
  b.reset(tiny_config(), {});
  Config other = tiny_config();
  other.training.seed = 2;
  c.reset(other, {});
  const auto expected = losses(a, 12);
  EXPECT_EQ(expected, losses(b, 12));
  EXPECT_NE(expected, losses(c, 12));
}

TEST(Training, LookingInsideDoesNotChangeTheLosses) {
  TorchEngine a, b;
  a.reset(tiny_config(), {});
  b.reset(tiny_config(), {});
  std::vector<double> watched;
  int looks = 0;
  for (int i = 0; i < 6; ++i) {
    watched.push_back(b.train_step([&] { b.probe({1, "a b c"}, [&](auto) { ++looks; }, {}); })[metric("loss")].value());
  }
  EXPECT_EQ(losses(a, 6), watched);
  EXPECT_GE(looks, 6 * 2 * 3);
}

TEST(Training, AnUpdateInTheMiddleOfALookIsAsAnyOther) {
  TorchEngine a, b;
  a.reset(tiny_config(), {});
  b.reset(tiny_config(), {});
  std::vector<double> trained = {b.train_step({})[metric("loss")].value()};
  Probe probe{.request = 1, .text = "a b c"};
  probe.decoding = true;
  b.probe(
      probe, [](auto) {}, [&] { trained.push_back(b.train_step({})[metric("loss")].value()); });
  EXPECT_GE(trained.size(), 6U);
  EXPECT_EQ(losses(a, static_cast<int>(trained.size())), trained);
}

TEST(Training, LiveFieldsTakeEffectAndOthersDoNot) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  engine.train_step({});
  Config edited = tiny_config();
  edited.training.noam_factor = 5;
  edited.training.batch_size = 99;
  engine.adjust(edited);
  const MetricPoint point = engine.train_step({});
  EXPECT_DOUBLE_EQ(point[metric("learning_rate")].value(), learning_rate_at(engine.config().training, 16, 2));
  EXPECT_DOUBLE_EQ(point[metric("learning_rate")].value(), 5 * std::pow(16, -0.5) * 2 * std::pow(20, -1.5));
  EXPECT_EQ(engine.config().training.batch_size, 8);
}

TEST(Training, ALossThatIsNotFiniteStopsBeforeTheUpdate) {
  const Config config = config_without_dropout();
  const Model model = make_model(config.model, 20);
  Trainer trainer(model, config, random_pairs(8));
  trainer.step({});
  {
    const torch::NoGradGuard no_grad;
    model->named_parameters()["encoder.norm.weight"].fill_(NAN);
  }
  const torch::Tensor before = model->named_parameters()["decoder.norm.weight"].clone();
  EXPECT_THROW(trainer.step({}), NotFinite);
  EXPECT_TRUE(torch::equal(before, model->named_parameters()["decoder.norm.weight"]));
  EXPECT_EQ(trainer.steps_done(), 1);
}

}  // namespace
}  // namespace attnscope
