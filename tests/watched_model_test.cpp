// One model trains and one is watched: whoever looks sees weights that stand still, and their own step.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "messages/data_flow.h"
#include "messages/metrics.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

constexpr const char* sentence = "a b c";

// Validates at every update, with weights that differ clearly from step to step.
Config restless() {
  Config config = tiny_config();
  config.training.validation_interval = 1;
  config.training.warmup_steps = 2;
  return config;
}

using Look = std::shared_ptr<const Snapshot>;

Look inspect(TorchEngine& engine, const YieldCallback& yield = {}) {
  Look whole;
  engine.probe(
      {.request = 1, .text = sentence}, [&](Look taken) { whole = std::move(taken); }, yield);
  return whole;
}

void expect_same_weights(const Snapshot& found, const Snapshot& expected) {
  EXPECT_EQ(found.step, expected.step);
  EXPECT_EQ(found.output_text, expected.output_text);
  EXPECT_EQ(found.encoder.front().front().values, expected.encoder.front().front().values);
  EXPECT_EQ(found.decoding, expected.decoding);
}

class WatchedModelTest : public testing::Test {
 protected:
  WatchedModelTest() {
    engine.reset(restless(), {});
    undisturbed.reset(restless(), {});
  }

  TorchEngine engine;
  TorchEngine undisturbed;  // the same run, looked at between its updates
};

TEST_F(WatchedModelTest, EveryLookWithinAnUpdateCarriesTheStepOfItsWeights) {
  constexpr int updates = 4;
  std::map<std::int64_t, Look> expected;
  expected[0] = inspect(undisturbed);
  for (int i = 1; i <= updates; ++i) {
    undisturbed.train_step({});
    expected[i] = inspect(undisturbed);
  }
  std::map<std::int64_t, int> seen;
  for (int i = 0; i < updates; ++i) {
    engine.train_step([&] {
      const Look found = inspect(engine);
      ++seen[found->step];
      ASSERT_TRUE(expected.contains(found->step));
      expect_same_weights(*found, *expected[found->step]);
    });
  }
  EXPECT_GT(seen[updates], 0) << "in the breaths of the last validation";
}

TEST_F(WatchedModelTest, ARecordingInsideALookLeavesTheLookItsWeights) {
  undisturbed.train_step({});
  const Look expected = inspect(undisturbed);
  undisturbed.train_step({});
  const Look later = inspect(undisturbed);

  engine.train_step({});
  engine.history().pin(sentence);
  bool trained = false;
  const Look found = inspect(engine, [&] {
    if (std::exchange(trained, true)) return;
    engine.train_step({});
    record_pinned(engine, {}, {});
  });
  expect_same_weights(*found, *expected);
  ASSERT_EQ(engine.history().find(sentence)->frames.size(), 1U);
  expect_same_weights(*frame_of(*engine.history().find(sentence)->frames.front()), *frame_of(*later));
}

TEST_F(WatchedModelTest, WeightsThatAreHeldStandStill) {
  engine.train_step({});
  const auto held = engine.watch();
  const torch::Tensor before = held->model->parameters().front().clone();
  engine.train_step({});
  const auto newer = engine.watch();
  EXPECT_NE(held, newer);
  EXPECT_EQ(held->step, 1);
  EXPECT_EQ(newer->step, 2);
  EXPECT_TRUE(torch::equal(held->model->parameters().front(), before));
  EXPECT_FALSE(torch::equal(newer->model->parameters().front(), before));
  EXPECT_EQ(engine.watch(), newer) << "the same step, the same weights";
}

TEST_F(WatchedModelTest, IsWithoutDropoutAndGradients) {
  engine.train_step([&] {
    const auto watched = engine.watch();
    EXPECT_FALSE(watched->model->is_training());
    for (const torch::Tensor& parameter : watched->model->parameters()) EXPECT_FALSE(parameter.requires_grad());
  });
}

TEST_F(WatchedModelTest, AStudyIsOfTheStepItBeganAtWhateverIsTrainedMeanwhile) {
  undisturbed.train_step({});
  const StudyResult expected = undisturbed.study({.question = HeldOutStudy{}}, {});
  engine.train_step({});
  int updates = 0;
  const StudyResult found = engine.study({.question = HeldOutStudy{}}, [&](double) {
    for (int i = 0; i < 2 && updates < 5; ++i, ++updates) engine.train_step({});
  });
  EXPECT_EQ(updates, 5);
  EXPECT_EQ(engine.steps_done(), 6);
  EXPECT_EQ(found.step, 1);
  const auto& scores = std::get<Evaluation>(found.answer);
  EXPECT_GT(scores.pairs, 0);
  EXPECT_EQ(scores.nll.nats, std::get<Evaluation>(expected.answer).nll.nats);
  EXPECT_EQ(scores.bleu, std::get<Evaluation>(expected.answer).bleu);
}

// ---- recorded weights

Look inspect_step(TorchEngine& engine, std::optional<std::int64_t> step) {
  Look whole;
  engine.probe({.request = 2, .text = sentence, .step = step, .data_flow = FlowWanted{{FlowPart::logits, true}}},
               [&](Look taken) { whole = std::move(taken); }, {});
  return whole;
}

// By step, as they were then.
std::map<std::int64_t, Look> train_recorded(TorchEngine& engine, int updates) {
  std::map<std::int64_t, Look> then;
  engine.history().pin(sentence);
  for (int i = 0; i <= updates; ++i) {
    record_pinned(engine, {}, {});
    then[engine.steps_done()] = inspect_step(engine, {});
    if (i < updates) engine.train_step({});
  }
  return then;
}

TEST_F(WatchedModelTest, ARecordedStepIsLookedAtAsItWas) {
  const auto then = train_recorded(engine, 4);
  EXPECT_THAT(engine.status().recorded_weights, testing::ElementsAre(0, 1, 2, 3, 4));
  for (const auto& [step, expected] : then) {
    const Look found = inspect_step(engine, step);
    expect_same_weights(*found, *expected);
    EXPECT_EQ(found->data_flow->matrices.back().values, expected->data_flow->matrices.back().values) << step;
    EXPECT_EQ(found->recorded_weights, step != 4) << "the present is no recorded step";
  }
  EXPECT_NE(then.at(1)->data_flow->matrices.back().values, then.at(2)->data_flow->matrices.back().values);
  EXPECT_EQ(inspect(engine)->step, 4);
}

TEST_F(WatchedModelTest, OfAStepWithoutWeightsThePresentIsShown) {
  train_recorded(engine, 2);
  const Look found = inspect_step(engine, 77);
  EXPECT_EQ(found->step, 2);
  EXPECT_FALSE(found->recorded_weights);
}

TEST_F(WatchedModelTest, LookingBackCostsTrainingNothing) {
  train_recorded(engine, 3);
  for (int i = 0; i < 3; ++i) undisturbed.train_step({});
  inspect_step(engine, 1);
  EXPECT_EQ(engine.train_step({})[metric("loss")], undisturbed.train_step({})[metric("loss")]);
}

TEST_F(WatchedModelTest, WhoHoldsARecordedStepKeepsIt) {
  const auto then = train_recorded(engine, 3);
  const auto held = engine.watch(1);
  const auto other = engine.watch(2);
  EXPECT_NE(held, other);
  EXPECT_EQ(held->step, 1);
  const auto weights = [](const WatchedModel& watched) { return watched.model->parameters().front(); };
  EXPECT_FALSE(weights(*held).equal(weights(*other)));
  EXPECT_TRUE(weights(*held).equal(weights(*engine.watch(1))));
}

TEST_F(WatchedModelTest, WeightsKeptInTheFolderAreRecordedSteps) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("attnscope-recorded-" + std::to_string(::getpid()));
  Config config = restless();
  config.training.kept_checkpoints = 4;
  config.training.checkpoint_interval = 1;
  config.training.keep_best = false;
  engine.reset(config, {});
  engine.save_run(folder.string());
  std::map<std::int64_t, Look> then;
  for (int i = 0; i < 3; ++i) {
    engine.train_step({});
    engine.checkpoint_if_due();
    then[engine.steps_done()] = inspect(engine);
  }
  TorchEngine opened;
  opened.open_run(folder.string(), {});
  EXPECT_THAT(opened.status().recorded_weights, testing::ElementsAre(1, 2));
  expect_same_weights(*inspect_step(opened, 2), *then.at(2));
  std::filesystem::resize_file(RunFolder{folder}.kept_weights(1), 100);
  EXPECT_ANY_THROW(inspect_step(opened, 1));
  expect_same_weights(*inspect(opened), *then.at(3));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace attnscope
