// Runs that nobody saved are kept all the same, and go on exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "files/storage/file.h"
#include "losses.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

class AutosaveTest : public testing::Test {
 protected:
  ~AutosaveTest() override { fs::remove_all(state); }

  Autosaves autosaves() const { return Autosaves(state / "runs"); }
  std::vector<Autosave> left() const { return autosaves().left(); }

  const fs::path state = fs::temp_directory_path() / ("attnscope-state-" + std::to_string(::getpid()));
};

TEST_F(AutosaveTest, FromTheFirstUpdateOnAndGoesOnExactly) {
  TorchEngine uninterrupted;
  uninterrupted.reset(tiny_config(), {});
  const auto expected = losses(uninterrupted, 9);
  {
    TorchEngine engine(autosaves());
    engine.reset(tiny_config(), {});
    EXPECT_FALSE(fs::exists(state)) << "there is nothing to lose yet";
    losses(engine, 1);
    EXPECT_FALSE(fs::is_empty(state / "runs"));
    losses(engine, 4);
    engine.checkpoint();  // as a session does at its end
  }
  ASSERT_EQ(left().size(), 1U);
  EXPECT_EQ(left()[0].step, 5);
  TorchEngine again(autosaves());
  const RunOpened opened = again.go_on_with(left()[0].path, {});
  EXPECT_TRUE(opened.autosaved);
  EXPECT_EQ(opened.saved_to, "");
  EXPECT_EQ(opened.step, 5);
  EXPECT_TRUE(left().empty()) << "it is held";
  EXPECT_EQ(losses(again, 4), std::vector(expected.begin() + 5, expected.end()));
}

TEST_F(AutosaveTest, ARunThatMakesWayComesBackAsItWas) {
  TorchEngine uninterrupted;
  uninterrupted.reset(tiny_config(), {});
  const auto expected = losses(uninterrupted, 7);
  TorchEngine engine(autosaves());
  engine.reset(tiny_config(), {});
  losses(engine, 3);
  const auto before = engine.keep();
  ASSERT_TRUE(before);
  engine.reset(tiny_config(), {});
  losses(engine, 2);
  const auto other = engine.keep();
  ASSERT_TRUE(other);
  EXPECT_NE(other->path, before->path);
  ASSERT_TRUE(before->go_on);
  EXPECT_EQ(engine.go_on_with(before->path, {}).step, 3);
  EXPECT_EQ(losses(engine, 4), std::vector(expected.begin() + 3, expected.end()));
}

TEST_F(AutosaveTest, ARunThatComesBackHasItsRecordedSteps) {
  TorchEngine engine(autosaves());
  engine.reset(tiny_config(), {});
  for (int i = 0; i < 3; ++i) {
    losses(engine, 1);
    engine.record_weights();
  }
  const std::vector<std::int64_t> steps = engine.status().recorded_weights;
  ASSERT_EQ(steps, (std::vector<std::int64_t>{1, 2, 3}));
  const auto before = engine.keep();
  engine.reset(tiny_config(), {});
  losses(engine, 1);
  EXPECT_TRUE(engine.status().recorded_weights.empty());
  engine.keep();
  engine.go_on_with(before->path, {});
  EXPECT_EQ(engine.status().recorded_weights, steps);
}

TEST_F(AutosaveTest, OneThatWasSavedSinceIsKeptNoLonger) {
  TorchEngine engine(autosaves());
  engine.reset(tiny_config(), {});
  losses(engine, 2);
  const std::string mine = (state / "mine").string();
  engine.save_run(mine);
  EXPECT_TRUE(fs::is_empty(state / "runs"));
  EXPECT_EQ(engine.keep()->path, mine);
  losses(engine, 2);
  engine.checkpoint();
  TorchEngine reader;
  EXPECT_EQ(reader.open_run(mine, {}).step, 4);
}

// The folder that its moments were to be read from is gone by then.
TEST_F(AutosaveTest, SavedBeforeItWasTrainedAgainItStillGoesOnExactly) {
  TorchEngine uninterrupted;
  uninterrupted.reset(tiny_config(), {});
  const auto expected = losses(uninterrupted, 6);
  {
    TorchEngine engine(autosaves());
    engine.reset(tiny_config(), {});
    losses(engine, 3);
    engine.checkpoint();
  }
  TorchEngine again(autosaves());
  again.go_on_with(left()[0].path, {});
  again.save_run((state / "mine").string());
  EXPECT_EQ(losses(again, 3), std::vector(expected.begin() + 3, expected.end()));
}

TEST_F(AutosaveTest, WhatWasOpenedAndOnlyLookedAtNeedsNoCopy) {
  {
    TorchEngine engine;
    engine.reset(tiny_config(), {});
    losses(engine, 2);
    engine.save_run((state / "mine").string());
  }
  TorchEngine engine(autosaves());
  engine.open_run((state / "mine").string(), {});
  const auto kept = engine.keep();
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->path, (state / "mine").string());
  EXPECT_FALSE(kept->go_on) << "it is not saved there by itself";
  engine.checkpoint();
  EXPECT_FALSE(fs::exists(state / "runs"));
}

TEST_F(AutosaveTest, ADiskThatFailsIsTriedAgainLaterAndNotAtEveryUpdate) {
  TorchEngine engine(Autosaves("/proc/nowhere"));
  engine.reset(tiny_config(), {});
  engine.train_step({});
  EXPECT_THROW(engine.checkpoint_if_due(), FileError);
  engine.train_step({});
  EXPECT_FALSE(engine.checkpoint_if_due());
  EXPECT_THROW(engine.keep(), FileError);
}

TEST_F(AutosaveTest, WeightsThatAreNotFiniteAreNamedAndLeaveTheLastGoodOnes) {
  TorchEngine uninterrupted;
  uninterrupted.reset(tiny_config(), {});
  const auto expected = losses(uninterrupted, 5);
  TorchEngine engine(autosaves());
  engine.reset(tiny_config(), {});
  losses(engine, 3);
  engine.checkpoint();
  ASSERT_TRUE(engine.last_saved());
  const Autosave saved = *engine.last_saved();
  EXPECT_EQ(saved.step, 3);
  engine.go_on_with(saved.path, {});  // which it holds itself
  {
    const torch::NoGradGuard no_grad;
    engine.model().parameters()[0].fill_(std::numeric_limits<float>::quiet_NaN());
  }
  EXPECT_THAT([&] { engine.train_step({}); }, testing::ThrowsMessage<NotFinite>(testing::HasSubstr("the weight ")));
  EXPECT_THROW(engine.checkpoint(), RunError);
  EXPECT_EQ(engine.go_on_with(saved.path, {}).step, 3);
  EXPECT_EQ(losses(engine, 2), std::vector(expected.begin() + 3, expected.end()));
}

TEST_F(AutosaveTest, TwoWindowsNeverMeetInOneFolder) {
  TorchEngine one(autosaves());
  TorchEngine other(autosaves());
  for (TorchEngine* engine : {&one, &other}) {
    engine->reset(tiny_config(), {});
    losses(*engine, 1);
  }
  const std::string path = one.keep()->path;
  EXPECT_NE(path, other.keep()->path);
  EXPECT_THROW(other.go_on_with(path, {}), FileError);
}

}  // namespace
}  // namespace attnscope
