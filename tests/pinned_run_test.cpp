// Pinned sentences in real runs: recorded while training, saved, opened, gone on with.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "commands/commands.h"
#include "engine/torch_engine.h"
#include "files/storage/file.h"
#include "files/storage/run_folder.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

constexpr const char* first = "a b c";
constexpr const char* second = "b b a d";

class PinnedRun : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("attnscope-pinned-" + std::to_string(::getpid()));
  fs::path run = folder / "run";

  void SetUp() override {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  static Config tiny() {
    Config config;
    config.corpus.source = "copy";
    config.tokenizer.vocab_size = 64;
    config.model = {.d_model = 16, .num_heads = 2, .num_encoder_layers = 1, .num_decoder_layers = 2, .d_ff = 32};
    config.model.max_length = 20;
    config.training.batch_size = 4;
    config.training.history_interval = 5;
    config.training.device = "cpu";
    config.training.threads = 1;
    return config;
  }

  TrainOptions options(std::int64_t steps, std::vector<std::string> pin) const {
    save_config(folder / "config.json", tiny());
    TrainOptions options;
    options.config_file = (folder / "config.json").string();
    options.out = run.string();
    options.steps = steps;
    options.pin = std::move(pin);
    return options;
  }
};

std::vector<std::int64_t> steps(const PinnedSentence& pinned) {
  std::vector<std::int64_t> found;
  for (const Frame& frame : pinned.frames) found.push_back(frame->step);
  return found;
}

std::shared_ptr<const Snapshot> inspect(TorchEngine& engine, const std::string& text) {
  std::shared_ptr<const Snapshot> newest;
  engine.probe({.request = 1, .text = text}, [&](auto taken) { newest = taken; }, {});
  return newest;
}

// Trains so many steps, looking at the pinned sentences when it is time.
void train_on(TorchEngine& engine, int steps) {
  for (int i = 0; i < steps; ++i) {
    engine.train_step({});
    if (recording_due(engine)) record_pinned(engine, {}, {});
    engine.checkpoint_if_due();
  }
}

void expect_equal(const Snapshot& a, const Snapshot& b) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.target_in, b.target_in);
  EXPECT_EQ(a.target_out, b.target_out);
  EXPECT_EQ(a.output_text, b.output_text);
  EXPECT_EQ(a.forced, b.forced);
  EXPECT_EQ(a.truncated, b.truncated);
  EXPECT_EQ(a.stopped_at_limit, b.stopped_at_limit);
  EXPECT_EQ(a.encoder, b.encoder);
  EXPECT_EQ(a.decoder, b.decoder);
  EXPECT_EQ(a.cross, b.cross);
  EXPECT_EQ(a.decoding, b.decoding);
  EXPECT_EQ(a.model, b.model);
}

TEST_F(PinnedRun, TrainRecordsAndResumeGoesOn) {
  ASSERT_EQ(train(options(12, {first, first})), 0);
  TorchEngine engine;
  const RunOpened opened = engine.open_run(run.string(), {});
  EXPECT_THAT(opened.warnings, IsEmpty());
  ASSERT_EQ(opened.pinned.size(), 1u);
  EXPECT_EQ(opened.pinned[0].text, first);
  EXPECT_THAT(steps(opened.pinned[0]), ElementsAre(0, 5, 10, 12));
  EXPECT_EQ(opened.pinned[0].frames[1]->run, opened.run);
  expect_equal(*opened.pinned[0].frames.back(), *frame_of(*inspect(engine, first)));

  TrainOptions more = options(21, {second});
  more.config_file.clear();
  more.resume = true;
  ASSERT_EQ(train(more), 0);
  const RunOpened again = engine.open_run(run.string(), {});
  ASSERT_EQ(again.pinned.size(), 2u);
  EXPECT_THAT(steps(again.pinned[0]), ElementsAre(0, 5, 10, 12, 15, 20, 21));
  EXPECT_THAT(steps(again.pinned[1]), ElementsAre(12, 15, 20, 21));
  expect_equal(*again.pinned[0].frames[2], *opened.pinned[0].frames[2]);
}

TEST_F(PinnedRun, MoreThanCanBePinnedIsRefusedBeforeTraining) {
  std::vector<std::string> many;
  for (std::size_t i = 0; i <= max_pinned; ++i) many.push_back(std::to_string(i));
  EXPECT_THAT([&] { train(options(3, many)); },
              testing::ThrowsMessage<ConfigError>("--pin \"16\": at most 16 sentences can be pinned"));
  EXPECT_FALSE(is_run(run));
}

TEST_F(PinnedRun, EveryArchitectureComesBackAsItWasSeen) {
  std::ofstream(folder / "text.txt") << "to be or not to be\nthat is the question\nto be\nor not\n";
  std::vector<Config> configs(4, tiny());
  configs[1].model.architecture = "decoder-only";
  configs[1].corpus.source = (folder / "text.txt").string();
  configs[1].tokenizer.type = "char";
  configs[2].model.architecture = "recurrent";
  configs[3].model.architecture = "recurrent";
  configs[3].model.attention = "none";
  for (const Config& config : configs) {
    SCOPED_TRACE(config.model.architecture + ", " + config.model.attention);
    TorchEngine engine;
    engine.reset(config, {});
    engine.history().pin("to b");
    engine.history().pin("");
    record_pinned(engine, {}, {});
    engine.save_run(run.string());
    TorchEngine other;
    const RunOpened opened = other.open_run(run.string(), {});
    EXPECT_THAT(opened.warnings, IsEmpty());
    ASSERT_EQ(opened.pinned.size(), 2u);
    for (const PinnedSentence& pinned : opened.pinned) {
      ASSERT_THAT(steps(pinned), ElementsAre(0));
      expect_equal(*pinned.frames[0], *frame_of(*inspect(other, pinned.text)));
    }
  }
}

TEST_F(PinnedRun, LookingChangesNoWeight) {
  TorchEngine watched, alone;
  watched.reset(tiny(), {});
  alone.reset(tiny(), {});
  watched.history().pin(first);
  for (int i = 0; i < 10; ++i) {
    watched.train_step({});
    alone.train_step({});
    record_pinned(watched, {}, {});
  }
  EXPECT_EQ(watched.history().find(first)->frames.size(), 10u);
  const auto weights = watched.model().parameters();
  const auto expected = alone.model().parameters();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(torch::equal(weights[i], expected[i]));
}

TEST_F(PinnedRun, CheckpointsCarryTheHistory) {
  Config config = tiny();
  config.training.checkpoint_interval = 10;
  TorchEngine engine;
  engine.reset(config, {});
  engine.history().pin(first);
  engine.save_run(run.string());
  train_on(engine, 11);
  TorchEngine other;
  const RunOpened opened = other.open_run(run.string(), {});
  EXPECT_EQ(opened.step, 10);
  EXPECT_THAT(steps(opened.pinned.at(0)), ElementsAre(5, 10)) << "that of its own step among them";
}

TEST_F(PinnedRun, FramesBeyondTheWeightsAreDropped) {
  TorchEngine engine;
  engine.reset(tiny(), {});
  engine.history().pin(first);
  train_on(engine, 5);
  engine.save_run(run.string());
  train_on(engine, 5);
  engine.save_run((folder / "later").string());
  fs::copy_file(RunFolder{folder / "later"}.history(), RunFolder{run}.history(), fs::copy_options::overwrite_existing);
  EXPECT_THAT(steps(engine.open_run(run.string(), {}).pinned.at(0)), ElementsAre(5));
}

TEST_F(PinnedRun, ABrokenHistoryIsSaidAndTheRunOpens) {
  TorchEngine engine;
  engine.reset(tiny(), {});
  engine.history().pin(first);
  record_pinned(engine, {}, {});
  engine.save_run(run.string());
  fs::resize_file(RunFolder{run}.history(), 1000);
  const RunOpened opened = engine.open_run(run.string(), {});
  ASSERT_EQ(opened.warnings.size(), 1u);
  EXPECT_THAT(opened.warnings[0],
              HasSubstr("The pinned sentences could not be read, so the run was opened without them"));
  EXPECT_THAT(opened.warnings[0], HasSubstr("history.safetensors"));
  EXPECT_THAT(opened.pinned, IsEmpty());
  engine.train_step({});
  // It is not lost at the next save, whatever that has in its place.
  const std::string unreadable = read_file(RunFolder{run}.history(), 1 << 20);
  const fs::path aside = run / "history.safetensors.broken";
  engine.save_run(run.string());
  EXPECT_FALSE(fs::exists(RunFolder{run}.history()));
  engine.history().pin(first);
  record_pinned(engine, {}, {});
  engine.save_run(run.string());
  EXPECT_EQ(read_file(aside, 1 << 20), unreadable);
  EXPECT_THAT(engine.open_run(run.string(), {}).warnings, IsEmpty());
}

TEST_F(PinnedRun, ResetKeepsTheSentencesAndAFailedOpenEverything) {
  TorchEngine engine;
  engine.reset(tiny(), {});
  engine.history().pin(first);
  record_pinned(engine, {}, {});
  EXPECT_THROW(engine.open_run("/nowhere/at/all", {}), std::runtime_error);
  EXPECT_EQ(engine.history().find(first)->frames.size(), 1u);
  const RunOpened opened = engine.reset(tiny(), {});
  ASSERT_EQ(opened.pinned.size(), 1u);
  EXPECT_THAT(opened.pinned[0].frames, IsEmpty());
}

TEST_F(PinnedRun, WithNothingPinnedThereIsNoFile) {
  TorchEngine engine;
  engine.reset(tiny(), {});
  engine.history().pin(first);
  record_pinned(engine, {}, {});
  engine.save_run(run.string());
  EXPECT_TRUE(fs::exists(RunFolder{run}.history()));
  engine.history().unpin(first);
  engine.save_run(run.string());
  EXPECT_FALSE(fs::exists(RunFolder{run}.history()));
}

}  // namespace
}  // namespace attnscope
