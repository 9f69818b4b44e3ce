// A run on disk: resumed exactly, averaged, opened with parts missing; and looks inside it.
#include <gmock/gmock.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/checkpoint.h"
#include "engine/torch_engine.h"
#include "files/storage/file.h"
#include "files/storage/run_folder.h"
#include "files/storage/safetensors.h"
#include "full_disk.h"
#include "losses.h"
#include "messages/metrics.h"
#include "run_fixture.h"
#include "training/validation.h"

namespace attnscope {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class RunOnDisk : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("attnscope-run-" + std::to_string(::getpid()));
  void SetUp() override { fs::remove_all(folder); }
  void TearDown() override { fs::remove_all(folder); }

  // The losses of so many steps of a run that is then in the folder, and that nobody holds.
  std::vector<double> saved_after(int steps) const {
    TorchEngine engine;
    engine.reset(tiny_config(), {});
    auto values = losses(engine, steps);
    engine.save_run(folder.string());
    return values;
  }
};

Config keeping(std::int64_t count) {
  Config config = tiny_config();
  config.training.checkpoint_interval = 2;
  config.training.kept_checkpoints = count;
  return config;
}

// Nine steps, a new process, eight more: the losses of seventeen.
void expect_exact_resume(const Config& config, const fs::path& folder) {
  TorchEngine uninterrupted;
  uninterrupted.reset(config, {});
  const auto expected = losses(uninterrupted, 17);

  TorchEngine first;
  first.reset(config, {});
  losses(first, 9);
  first.save_run(folder.string());

  TorchEngine second;
  const RunOpened opened = second.open_run(folder.string(), {});
  EXPECT_EQ(opened.step, 9);
  EXPECT_EQ(opened.metrics.size(), 9U);
  EXPECT_TRUE(opened.warnings.empty());
  EXPECT_EQ(losses(second, 8), std::vector(expected.begin() + 9, expected.end()));
}

TEST_F(RunOnDisk, ResumedLossesEqualUninterruptedOnes) {
  expect_exact_resume(tiny_config(), folder);
}

// A corpus of few pairs, so that the resumed run is some epochs on.
TEST_F(RunOnDisk, ResumesExactlyWithEveryOptionOfTraining) {
  fs::create_directories(folder);
  {
    std::ofstream out(folder / "pairs.tsv");
    for (int i = 0; i < 40; ++i) out << std::string(1 + i % 7, "abcde"[i % 5]) << i << "\tx" << i << '\n';
  }
  Config config = tiny_config((folder / "pairs.tsv").string());
  config.training.batch_tokens = 60;
  config.training.accumulation_steps = 3;
  config.training.optimizer = "adamw";
  config.training.schedule = "cosine";
  expect_exact_resume(config, folder / "run");
}

TEST(Checkpoints, ComeByTimeWithinAFiftiethOfIt) {
  using namespace std::chrono_literals;
  const auto at = [](auto since) { return CheckpointPacing::Clock::time_point(1h + since); };
  CheckpointPacing pacing;
  pacing.begun(at(0s));
  pacing.ended(at(1s));
  EXPECT_FALSE(pacing.due(at(59s), 60s));
  EXPECT_TRUE(pacing.due(at(60s), 60s));
  EXPECT_FALSE(pacing.due(at(24h), 0s)) << "by updates alone";
  pacing.begun(at(60s));
  pacing.ended(at(63s));
  EXPECT_FALSE(pacing.due(at(60s + 149s), 60s));
  EXPECT_TRUE(pacing.due(at(60s + 150s), 60s)) << "3 s of it, 2 %";
  // One that failed, without an end, is not tried again before its time.
  pacing.begun(at(300s));
  EXPECT_FALSE(pacing.due(at(301s), 60s));
}

// Metrics are written at every step, not only with the next checkpoint.
TEST_F(RunOnDisk, CurvesAreWrittenBetweenCheckpoints) {
  Config config = tiny_config();
  config.training.checkpoint_interval = 1'000'000;
  TorchEngine engine;
  engine.reset(config, {});
  engine.save_run(folder.string());
  const auto points = [&] { return load_metrics(RunFolder{folder}.metrics()).size(); };
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (points() == 0 && std::chrono::steady_clock::now() < end) losses(engine, 10);
  EXPECT_GT(points(), 0U);
  EXPECT_LE(points(), static_cast<std::size_t>(engine.steps_done()));
}

TEST_F(RunOnDisk, ACheckpointTakesInWhatWasLearnedSince) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  engine.checkpoint();  // of no folder: nothing
  EXPECT_FALSE(engine.checkpoint_if_due());
  engine.save_run(folder.string());
  const auto expected = losses(engine, 4);
  engine.checkpoint();
  TorchEngine again;
  const RunOpened opened = again.open_run(folder.string(), {});
  EXPECT_EQ(opened.step, 4);
  EXPECT_EQ(opened.metrics.size(), 4U);
  EXPECT_EQ(losses(again, 3), losses(engine, 3));
}

TEST_F(RunOnDisk, IsHeldByTheOneThatSavesIt) {
  TorchEngine first, second;
  first.reset(tiny_config(), {});
  first.save_run(folder.string());
  second.open_run(folder.string(), {});  // reading is for everybody
  EXPECT_THAT([&] { second.save_run(folder.string()); },
              testing::ThrowsMessage<FileError>(testing::HasSubstr("in use")));
  first.reset(tiny_config(), {});
  second.save_run(folder.string());
}

TEST_F(RunOnDisk, ASaveThatFailsLeavesTheLastAndTheNextOneSucceeds) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  const auto step_of_run = [&] {
    TorchEngine reader;
    return reader.open_run(folder.string(), {}).step;
  };
  {
    const FullDisk full(4096);
    EXPECT_THROW(engine.save_run(folder.string()), FileError);
  }
  EXPECT_TRUE(fs::is_empty(folder)) << "nothing says that there is a run";
  engine.save_run(folder.string());
  losses(engine, 3);
  {
    const FullDisk full(4096);
    EXPECT_THROW(engine.checkpoint(), FileError);
  }
  EXPECT_EQ(step_of_run(), 0);
  losses(engine, 2);
  engine.checkpoint();
  EXPECT_EQ(step_of_run(), 5);
  TorchEngine reader;
  EXPECT_EQ(reader.open_run(folder.string(), {}).metrics.size(), 5U);
}

TEST_F(RunOnDisk, SavedOverAnotherRunItKeepsNothingOfThat) {
  {
    TorchEngine other;
    other.reset(keeping(3), {});
    losses(other, 2);
    other.history().pin("a b");
    record_pinned(other, {}, {});
    other.save_run(folder.string());
  }
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  engine.save_run(folder.string());
  for (const fs::path& gone : {RunFolder{folder}.optimizer(), RunFolder{folder}.history()})
    EXPECT_FALSE(fs::exists(gone)) << gone;
  EXPECT_THAT(kept_steps({folder}), testing::IsEmpty());
  EXPECT_THAT(load_metrics(RunFolder{folder}.metrics()), testing::IsEmpty());
}

TEST_F(RunOnDisk, SavedWhereSomebodyElsesFilesAreItTouchesNone) {
  fs::create_directories(folder);
  std::ofstream(RunFolder{folder}.model()) << "not ours";
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  EXPECT_THAT([&] { engine.save_run(folder.string()); },
              testing::ThrowsMessage<FileError>(testing::HasSubstr("model.safetensors")));
  EXPECT_EQ(read_file(RunFolder{folder}.model(), 100), "not ours");
}

TEST_F(RunOnDisk, CheckpointsFollowAtTheirInterval) {
  Config config = tiny_config();
  config.training.checkpoint_interval = 4;
  TorchEngine engine;
  engine.reset(config, {});
  engine.save_run(folder.string());
  losses(engine, 6);
  TorchEngine again;
  EXPECT_EQ(again.open_run(folder.string(), {}).step, 4);
}

// A crash can leave metrics of later steps than the weights.
TEST_F(RunOnDisk, MetricsBeyondTheWeightsAreForgotten) {
  const auto expected = saved_after(5);
  std::vector<MetricPoint> lost(2);
  lost[0].step = 6;
  lost[1].step = 7;
  append_metrics(RunFolder{folder}.metrics(), lost);

  const auto steps_and_losses = [](const std::vector<MetricPoint>& points) {
    std::vector<std::pair<std::int64_t, double>> found;
    for (const MetricPoint& point : points) found.emplace_back(point.step, point[metric("loss")].value());
    return found;
  };
  std::vector<std::pair<std::int64_t, double>> points;
  for (const double loss : expected) points.emplace_back(points.size() + 1, loss);
  TorchEngine again;
  EXPECT_EQ(steps_and_losses(again.open_run(folder.string(), {}).metrics), points);
  points.emplace_back(6, losses(again, 1)[0]);
  again.save_run(folder.string());
  EXPECT_EQ(steps_and_losses(load_metrics(RunFolder{folder}.metrics())), points);
}

TEST_F(RunOnDisk, SavedAgainElsewhereItStillResumesExactly) {
  TorchEngine first;
  first.reset(tiny_config(), {});
  losses(first, 5);
  first.save_run(folder.string());
  const auto expected = losses(first, 3);

  TorchEngine second;
  second.open_run(folder.string(), {});
  const fs::path copy = folder / "copy";
  second.save_run(copy.string());
  TorchEngine third;
  third.open_run(copy.string(), {});
  EXPECT_EQ(losses(third, 3), expected);
}

TEST_F(RunOnDisk, AFailedOpenLeavesThePresentRun) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  const auto weights = engine.model().parameters().front().clone();
  EXPECT_THROW(engine.open_run("/nowhere/at/all", {}), std::runtime_error);
  engine.save_run(folder.string());
  fs::resize_file(folder / "model.safetensors", 100);
  EXPECT_THROW(engine.open_run(folder.string(), {}), SafetensorsError);
  EXPECT_TRUE(torch::equal(weights, engine.model().parameters().front()));
  engine.train_step({});
  EXPECT_EQ(engine.steps_done(), 1);
}

TEST_F(RunOnDisk, WeightsOfAnotherModelAreRefusedByName) {
  fs::create_directories(folder);
  const Model small = make_model(ModelConfig{.d_model = 16, .num_heads = 2}, 30);
  const Model large = make_model(ModelConfig{.d_model = 32, .num_heads = 2}, 30);
  save_weights(folder / "small.safetensors", *small, 3);
  const torch::Tensor before = large->parameters().front().clone();
  try {
    load_weights(folder / "small.safetensors", *large);
    FAIL();
  } catch (const SafetensorsError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("small.safetensors"), testing::HasSubstr("embedding.weight"),
                               testing::HasSubstr("[30, 16]"), testing::HasSubstr("[30, 32]")));
  }
  EXPECT_TRUE(torch::equal(before, large->parameters().front()));
  const Model other = make_model(ModelConfig{.d_model = 16, .num_heads = 2}, 30);
  EXPECT_EQ(load_weights(folder / "small.safetensors", *other), 3);
  EXPECT_TRUE(torch::equal(small->parameters().back(), other->parameters().back()));
}

// Verse enough for a language model: lines of letters, one of them blank.
Config language_model_config(const fs::path& folder) {
  fs::create_directories(folder);
  const fs::path file = folder / "verses.txt";
  std::ofstream out(file);
  for (int i = 0; i < 60; ++i) out << "to be or not to be " << i % 7 << (i % 5 ? "\n" : "\n\n");
  Config config = tiny_config(file.string());
  config.tokenizer.type = "char";
  config.model.architecture = "decoder-only";
  config.model.max_length = 16;
  return config;
}

TEST_F(RunOnDisk, ALanguageModelResumesExactly) {
  Config config = language_model_config(folder);
  config.training.accumulation_steps = 2;
  expect_exact_resume(config, folder / "run");
}

TEST_F(RunOnDisk, AModelIsLookedAtBeforeItsCorpusIsReadAndKnowsItsWordsAfterwards) {
  const auto expected = [&] {
    saved_after(3);
    TorchEngine whole;
    const RunOpened opened = whole.open_run(folder.string(), {});
    EXPECT_FALSE(opened.corpus_follows);
    return std::pair(opened.examples.size(), losses(whole, 2));
  }();
  TorchEngine engine;
  const auto unseen = [&] {
    std::shared_ptr<const Snapshot> last;
    engine.probe({1, "a zebra"}, [&](auto snapshot) { last = snapshot; }, {});
    return last->unseen.size();
  };
  const RunOpened opened = engine.open_model(folder.string());
  EXPECT_TRUE(opened.corpus_follows);
  EXPECT_TRUE(opened.examples.empty());
  EXPECT_EQ(unseen(), 0U) << "nobody knows yet";
  const CorpusRead read = engine.read_corpus([&](const Progress&) { unseen(); });
  EXPECT_EQ(read.examples.size(), expected.first);
  EXPECT_TRUE(read.warnings.empty());
  EXPECT_EQ(unseen(), 1U);
  EXPECT_EQ(losses(engine, 2), expected.second);
}

TEST_F(RunOnDisk, OfAGpuGoesOnWithoutOne) {
  saved_after(4);
  Config config = load_config(RunFolder{folder}.config());
  config.training.device = "cuda";
  save_config(RunFolder{folder}.config(), config);
  TorchEngine engine;
  const RunOpened opened = engine.open_run(folder.string(), {});
  EXPECT_EQ(engine.steps_done(), 4);
  EXPECT_TRUE(std::isfinite(losses(engine, 1).front()));
  if (has_device("cuda")) {
    EXPECT_THAT(opened.warnings, testing::IsEmpty());
    EXPECT_EQ(engine.status().device, "CUDA");
  } else {
    EXPECT_THAT(opened.warnings, testing::ElementsAre(testing::HasSubstr("trained with CUDA")));
    EXPECT_THAT(engine.status().device, testing::StartsWith("CPU"));
  }
}

TEST_F(RunOnDisk, ACorpusThatIsGoneIsSaidWhenItIsRead) {
  Config config = tiny_config((folder.parent_path() / "attnscope-gone.tsv").string());
  fs::copy_file(letters_file(), config.corpus.source, fs::copy_options::overwrite_existing);
  {
    TorchEngine engine;
    engine.reset(config, {});
    engine.save_run(folder.string());
  }
  fs::remove(config.corpus.source);
  TorchEngine engine;
  EXPECT_TRUE(engine.open_model(folder.string()).warnings.empty());
  const CorpusRead read = engine.read_corpus({});
  ASSERT_EQ(read.warnings.size(), 1U);
  EXPECT_THAT(read.warnings[0], testing::HasSubstr("can be inspected, but not trained"));
  EXPECT_TRUE(read.examples.empty());
  EXPECT_THROW(engine.train_step({}), CorpusError);
}

TEST_F(RunOnDisk, ALanguageModelLearnsTextAndTellsCharactersAndPrompts) {
  Config config = language_model_config(folder);
  config.training.validation_interval = 100;
  TorchEngine engine;
  const RunOpened opened = engine.reset(config, {});
  const auto characters = static_cast<std::int64_t>(fs::file_size(config.corpus.source));
  EXPECT_EQ(opened.train_pairs + opened.validation_pairs, characters);
  EXPECT_EQ(opened.train_pairs, characters * 9 / 10);
  ASSERT_FALSE(opened.examples.empty());
  EXPECT_EQ(opened.examples.front().source.substr(0, 5), "to be");
  EXPECT_LT(opened.examples.back().source.size(), 15U) << "a beginning, not the line";
  losses(engine, 99);
  const MetricPoint point = engine.train_step({});
  ASSERT_TRUE(point[metric("validation_nll")]);
  EXPECT_LT(*point[metric("validation_nll")], 1.5) << "nothing learned would be ln 20 = 3";
  ASSERT_TRUE(point[metric("train_nll")]) << "there is label smoothing";
  EXPECT_LT(*point[metric("train_nll")], *point[metric("loss")]) << "which raises the other loss";
  std::shared_ptr<const Snapshot> last;
  engine.probe({1, "to be"}, [&](auto snapshot) { last = snapshot; }, {});
  EXPECT_FALSE(last->output_text.empty());
}

TEST_F(RunOnDisk, ATextIsNotReadAsPairsWhenTheArchitectureChanges) {
  Config config = tiny_config();
  TorchEngine engine;
  const std::int64_t pairs = engine.reset(config, {}).train_pairs;
  config.model.architecture = "decoder-only";
  EXPECT_GT(engine.reset(config, {}).train_pairs, 10 * pairs) << "characters";
  engine.train_step({});
  config.model.architecture = "encoder-decoder";
  EXPECT_EQ(engine.reset(config, {}).train_pairs, pairs);
  engine.train_step({});
}

// ---- kept checkpoints

std::map<std::string, torch::Tensor> weights(TorchEngine& engine) {
  std::map<std::string, torch::Tensor> copies;
  for (const auto& item : engine.model().named_parameters()) copies[item.key()] = item.value().detach().clone();
  return copies;
}

TEST_F(RunOnDisk, TheMeanOfKeptCheckpointsIsTheirMean) {
  TorchEngine engine;
  engine.reset(keeping(3), {});
  engine.save_run(folder.string());
  EXPECT_THAT(kept_steps({folder}), testing::IsEmpty()) << "weights that have learned nothing";
  losses(engine, 6);
  const auto at_6 = weights(engine);
  losses(engine, 2);
  const auto at_8 = weights(engine);
  losses(engine, 1);
  engine.save_run(folder.string());
  const auto at_9 = weights(engine);
  EXPECT_THAT(kept_steps({folder}), testing::ElementsAre(6, 8, 9));

  TorchEngine again;
  again.open_run(folder.string(), {});
  again.average(3);
  for (const auto& [name, mean] : weights(again)) {
    const torch::Tensor expected = (at_6.at(name) + at_8.at(name) + at_9.at(name)) / 3;
    EXPECT_LE((mean - expected).abs().max().item<double>(), 1e-6) << name;
  }
  again.average(1);
  for (const auto& [name, last] : weights(again)) EXPECT_TRUE(torch::equal(last, at_9.at(name))) << name;
}

TEST_F(RunOnDisk, TooFewOrBrokenCheckpointsAreNamedAndChangeNothing) {
  TorchEngine engine;
  engine.reset(keeping(3), {});
  engine.save_run(folder.string());
  losses(engine, 4);
  engine.save_run(folder.string());
  TorchEngine again;
  again.open_run(folder.string(), {});
  const auto before = weights(again);
  const auto message = [&](std::int64_t count) -> std::string {
    try {
      again.average(count);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(3), testing::AllOf(testing::HasSubstr((folder / "checkpoints").string()),
                                         testing::HasSubstr("of 2 checkpoints"), testing::HasSubstr("of 3 was")));
  fs::resize_file(RunFolder{folder}.kept_weights(2), 100);
  EXPECT_THAT(message(2), testing::HasSubstr("00000002.safetensors"));
  for (const auto& [name, weight] : weights(again)) EXPECT_TRUE(torch::equal(weight, before.at(name))) << name;
}

TEST_F(RunOnDisk, KeptCheckpointsOfAnotherFutureOrAnotherRunAreRemoved) {
  {
    TorchEngine engine;
    engine.reset(keeping(10), {});
    engine.save_run(folder.string());
    losses(engine, 4);
  }
  fs::copy(RunFolder{folder}.kept_weights(4), RunFolder{folder}.kept_weights(6));
  {
    TorchEngine resumed;
    resumed.open_run(folder.string(), {});
    EXPECT_EQ(resumed.steps_done(), 4);
    EXPECT_THROW(resumed.average(3), RunError) << "the third is of a step that has not been";
    resumed.save_run(folder.string());
  }
  EXPECT_THAT(kept_steps({folder}), testing::ElementsAre(2, 4));

  TorchEngine other;
  other.reset(keeping(10), {});
  losses(other, 3);
  other.save_run(folder.string());
  EXPECT_THAT(kept_steps({folder}), testing::ElementsAre(3));
}

// The step of the lowest validation loss in the metrics, and that loss.
std::pair<std::int64_t, double> lowest_validation(const std::vector<MetricPoint>& points) {
  std::pair<std::int64_t, double> lowest{0, 1e9};
  for (const MetricPoint& point : points)
    if (const auto loss = point[metric("validation_nll")]; loss && *loss < lowest.second) lowest = {point.step, *loss};
  return lowest;
}

// A learning rate that is too high later: the lowest validation loss is not the last one.
void train_past_the_best(TorchEngine& engine) {
  Config config = tiny_config();
  engine.reset(config, {});
  losses(engine, 40);
  config.training.noam_factor = 100;
  engine.adjust(config);
  losses(engine, 20);
}

TEST_F(RunOnDisk, TheBestWeightsAreKeptAndCanBeUsed) {
  TorchEngine engine;
  train_past_the_best(engine);
  const auto [best, loss] = lowest_validation(engine.metrics());
  ASSERT_LT(best, 60);
  EXPECT_EQ(engine.best_step(), best);
  engine.save_run(folder.string());

  TorchEngine opened;
  RunOpened run = opened.open_model(folder.string());
  EXPECT_EQ(opened.status().best_step, best);
  opened.use_step(run, best_weights);
  EXPECT_EQ(run.step, best);
  EXPECT_EQ(opened.status().step, best);
  EXPECT_EQ(run.metrics.back().step, best);
  opened.read_corpus({});
  EXPECT_NEAR(validate(opened.model(), *opened.dataset({}), tiny_config().training.batch_size, {}).per_token(), loss,
              1e-5);
  losses(opened, 1);  // with a new optimizer state: the saved one belongs to a later step
  EXPECT_EQ(opened.status().step, best + 1);
}

TEST_F(RunOnDisk, WeightsThatWereNotSavedAreRefusedAndTheOthersNamed) {
  saved_after(10);
  TorchEngine engine;
  RunOpened run = engine.open_model(folder.string());
  try {
    engine.use_step(run, 3);
    FAIL() << "is refused";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("has no weights of step 3"), HasSubstr("10")));
  }
  EXPECT_EQ(engine.status().step, 10);
}

TEST_F(RunOnDisk, AnotherRunSavedOverItDoesNotKeepItsBestWeights) {
  saved_after(10);
  ASSERT_TRUE(fs::exists(RunFolder{folder}.best()));
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  engine.save_run(folder.string());
  EXPECT_FALSE(fs::exists(RunFolder{folder}.best()));
}

// Trains to the first validation, at step 5, and then at far too high a rate, so that this one stays the best.
void begin_without_progress(TorchEngine& engine) {
  Config config = tiny_config();
  config.training.patience = 2;
  engine.reset(config, {});
  losses(engine, 5);
  config.training.noam_factor = 100;
  engine.adjust(config);
}

TEST(EarlyStopping, EndsAfterSoManyValidationsWithoutProgress) {
  TorchEngine engine;
  begin_without_progress(engine);
  std::vector<std::int64_t> ends;
  for (int step = 6; step <= 25; ++step) {
    losses(engine, 1);
    if (engine.has_ended()) ends.push_back(step);
  }
  EXPECT_THAT(ends, testing::ElementsAre(15)) << "once, at the third validation; then training may continue";
  EXPECT_EQ(engine.best_step(), 5);
}

TEST_F(RunOnDisk, AResumedRunKnowsItsLowestValidationLoss) {
  {
    TorchEngine engine;
    begin_without_progress(engine);
    losses(engine, 5);
    engine.save_run(folder.string());
  }
  TorchEngine again;
  again.open_run(folder.string(), {});
  losses(again, 4);
  EXPECT_FALSE(again.has_ended());
  losses(again, 1);
  EXPECT_TRUE(again.has_ended()) << "at step 15, the second validation without progress";
}

TEST_F(RunOnDisk, OpensWithoutItsCorpusAndSaysSo) {
  fs::create_directories(folder);
  const fs::path file = folder / "pairs.tsv";
  {
    std::ofstream out(file);
    for (char c = 'a'; c <= 'z'; ++c) out << c << " x\t" << c << " y\n";
  }
  TorchEngine engine;
  engine.reset(tiny_config(file.string()), {});
  engine.save_run((folder / "run").string());
  fs::remove(file);
  TorchEngine again;
  const RunOpened opened = again.open_run((folder / "run").string(), {});
  ASSERT_EQ(opened.warnings.size(), 1U);
  EXPECT_THAT(opened.warnings[0], testing::HasSubstr("pairs.tsv"));
  EXPECT_THROW(again.train_step({}), CorpusError);
  int inspections = 0;
  again.probe({1, "a x"}, [&](auto) { ++inspections; }, {});
  EXPECT_EQ(inspections, 2);
}

// ---- a folder that is renamed or replaced while its run trains

TEST_F(RunOnDisk, ARenamedRunIsFollowed) {
  fs::create_directories(folder);
  Config config = tiny_config();
  TorchEngine one, other;
  one.reset(config, {});
  one.save_run((folder / "x").string());
  fs::rename(folder / "x", folder / "y");
  config.training.seed = 77;
  other.reset(config, {});
  other.save_run((folder / "x").string());
  for (TorchEngine* engine : {&one, &other}) {
    engine->train_step({});
    engine->checkpoint();
  }
  EXPECT_THAT(one.take_notice(), testing::AllOf(testing::HasSubstr("was renamed to"), testing::HasSubstr("y")));
  EXPECT_EQ(one.take_notice(), "");
  EXPECT_EQ(other.take_notice(), "");
  for (const auto& [name, seed] : {std::pair("x", 77), std::pair("y", 1)}) {
    TorchEngine again;
    const RunOpened opened = again.open_run((folder / name).string(), {});
    EXPECT_EQ(opened.config.training.seed, seed) << name;
    EXPECT_EQ(opened.step, 1) << name;
    EXPECT_THAT(opened.warnings, testing::IsEmpty()) << name;
  }
}

TEST_F(RunOnDisk, ARunWhoseFolderIsReplacedIsSavedBeside) {
  fs::create_directories(folder);
  Config config = tiny_config();
  TorchEngine engine;
  engine.reset(config, {});
  engine.save_run((folder / "x").string());
  engine.train_step({});
  fs::remove_all(folder / "x");
  fs::create_directory(folder / "x");
  write_file(folder / "x" / "config.json", "somebody else's");
  engine.checkpoint();
  EXPECT_THAT(engine.take_notice(), testing::HasSubstr("x-2"));
  EXPECT_EQ(read_file(folder / "x" / "config.json", 100), "somebody else's");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "x"), {}), 1);
  engine.train_step({});
  engine.checkpoint();
  TorchEngine again;
  const RunOpened opened = again.open_run((folder / "x-2").string(), {});
  EXPECT_EQ(opened.step, 2);
  EXPECT_EQ(opened.metrics.size(), 2U);
}

// ---- looking inside

TEST(Probe, TheSnapshotIsWhatTheModelComputes) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  std::vector<std::shared_ptr<const Snapshot>> published;
  engine.probe({42, "c a b"}, [&](auto snapshot) { published.push_back(snapshot); }, {});
  ASSERT_EQ(published.size(), 2U);
  EXPECT_FALSE(published[0]->encoder.empty());
  EXPECT_TRUE(published[0]->cross.empty());
  const Snapshot& whole = *published[1];
  EXPECT_EQ(whole.request, 42U);
  const auto target_length = whole.target_in.size();
  ASSERT_EQ(whole.target_out.size(), target_length);
  ASSERT_EQ(whole.decoding.size(), target_length);
  EXPECT_EQ(whole.source.back().id, Tokenizer::eos_id);
  EXPECT_EQ(whole.target_in.front().id, Tokenizer::bos_id);
  for (std::size_t t = 0; t < target_length; ++t) {
    const DecodingStep& step = whole.decoding[t];
    EXPECT_EQ(step.candidates[step.chosen].token, whole.target_out[t]);
    EXPECT_TRUE(std::is_sorted(step.candidates.begin(), step.candidates.end(),
                               [](const auto& a, const auto& b) { return a.probability > b.probability; }));
    if (t > 0) {
      EXPECT_EQ(whole.target_in[t], whole.target_out[t - 1]);
    }
  }
  const Matrix& cross = whole.cross[0][1];
  EXPECT_EQ(cross.rows, static_cast<int>(target_length));
  EXPECT_EQ(cross.cols, static_cast<int>(whole.source.size()));
  for (int row = 0; row < cross.rows; ++row) {
    float sum = 0;
    for (int col = 0; col < cross.cols; ++col) sum += cross.at(row, col);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(Probe, SurvivesAnythingTyped) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  for (const std::string& text : {std::string(), std::string("   "), std::string(5000, 'a'),
                                  std::string("\xff\xfe\0x", 4), std::string("日本 🙂 ￼")}) {
    std::shared_ptr<const Snapshot> last;
    engine.probe({1, text}, [&](auto snapshot) { last = snapshot; }, {});
    ASSERT_TRUE(last);
    EXPECT_LE(last->source.size(), 24U);
    EXPECT_FALSE(last->decoding.empty());
  }
}

}  // namespace
}  // namespace attnscope
