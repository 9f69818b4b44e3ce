// Files that the window wants written.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fake_session.h"
#include "files/storage/run_folder.h"
#include "files/storage/run_list.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

class FilesTest : public SessionTest {
 protected:
  FilesTest() { fs::create_directories(folder); }
  ~FilesTest() override { fs::remove_all(folder); }

  // The answer to writing it.
  FileWritten write(const WriteFile& file) {
    const std::size_t before = all<FileWritten>().size();
    session->post(file);
    EXPECT_TRUE(wait_for([&] { return all<FileWritten>().size() > before; }));
    return all<FileWritten>().back();
  }

  static std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const fs::path folder = fs::path(testing::TempDir()) / ("attnscope_files_" + std::to_string(::getpid()));
};

TEST_F(FilesTest, BytesAreWrittenAsTheyAre) {
  start();
  const std::string bytes("a\0b\xFF\n", 5);
  const fs::path path = folder / "numbers é.csv";
  const FileWritten answer = write({path.string(), bytes});
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.path, path.string());
  EXPECT_EQ(content(path), bytes);
}

TEST_F(FilesTest, WhatIsThereIsReplacedOnlyWhenAsked) {
  start();
  const std::string path = (folder / "picture.png").string();
  EXPECT_EQ(write({path, "old"}).error, "");
  EXPECT_EQ(write({path, "new"}).error, path + " already exists and was not replaced");
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(write({path, "new", true}).error, "");
  EXPECT_EQ(content(path), "new");
}

TEST_F(FilesTest, TheFolderIsMade) {
  start();
  EXPECT_EQ(write({(folder / "film" / "film-00001.png").string(), "1"}).error, "");
  EXPECT_EQ(content(folder / "film" / "film-00001.png"), "1");
}

TEST_F(FilesTest, WhatCannotBeWrittenIsSaidAndLosesNothing) {
  start_with_run();
  const fs::path path = folder / "directory";
  fs::create_directories(path);
  EXPECT_THAT(write({path.string(), "x", true}).error, testing::HasSubstr(path.string()));
  EXPECT_TRUE(fs::is_directory(path));
  EXPECT_EQ(write({"/proc/nowhere/x.csv", "x"}).error,
            "cannot create the folder /proc/nowhere: No such file or directory");
  // Nothing is left beside it, and the session goes on.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  session->post(Probe{3, "typed"});
  EXPECT_TRUE(wait_for_whole_snapshot(3));
}

TEST_F(FilesTest, AFullDiskIsSaid) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  start();
  // A link to a device that takes nothing: what it points to cannot be replaced, and stays.
  fs::create_symlink("/dev/full", folder / "full");
  EXPECT_NE(write({(folder / "full" / "x").string(), "x"}).error, "");
  EXPECT_TRUE(fs::exists("/dev/full"));
}

TEST_F(FilesTest, WhatWasAskedBeforeTheEndIsStillWritten) {
  start();
  for (int i = 0; i < 50; ++i) session->post(WriteFile{(folder / std::to_string(i)).string(), "x"});
  session.reset();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 50);
}

TEST_F(FilesTest, ARunToBeSavedBeforeTheEndIsSaved) {
  script->on_step = [this](std::int64_t, const YieldCallback& yield) { script->wait_at_gate(yield); };
  script->on_save = [] { throw std::runtime_error("the disk is full"); };
  start_with_run();
  session->post(Train{});
  while (!script->at_gate) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  session->post(SaveRun{"somewhere"});
  const Session::News last = session->end();
  EXPECT_THAT(script->noted(), testing::Not(testing::Contains("step ends")));
  EXPECT_THAT(last.events, testing::Contains(testing::VariantWith<Message>(
                               testing::Field(&Message::text, testing::HasSubstr("the disk is full")))));
}

TEST_F(FilesTest, ARunThatWasNeverThereIsNotSavedAtTheEnd) {
  std::atomic<bool> first = true;
  script->on_prepare = [&](const ProgressCallback& progress) {
    if (!first.exchange(false)) script->wait_at_gate([&] { progress({"Reading", 0.5}); });
  };
  start_with_run();
  session->post(Reset{});
  while (!script->at_gate) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  session->post(SaveRun{"of the new run"});
  session.reset();
  EXPECT_EQ(script->times("save of the new run"), 0U);
}

TEST_F(FilesTest, TheRunIsSavedAtTheEnd) {
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return script->times("step ends") >= 3; }));
  session.reset();
  const std::size_t steps = script->times("step ends");
  EXPECT_THAT(script->noted(), testing::Contains("checkpoint " + std::to_string(steps)));
  EXPECT_THAT(script->noted().back(), "destroyed");
}

TEST_F(FilesTest, WithoutARunNothingIsSavedAtTheEnd) {
  start();
  session.reset();
  EXPECT_THAT(script->noted(), testing::Not(testing::Contains(testing::HasSubstr("checkpoint"))));
}

TEST_F(FilesTest, ACheckpointThatFailsIsSaidOnceAndTrainingGoesOn) {
  script->on_checkpoint = [](std::int64_t step) -> bool {
    if (step % 2 == 0) return false;  // not due: no sign that saving works again
    if (step != 5) throw std::runtime_error("the disk is full");
    return true;
  };
  script->steps_wanted = 9;
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::finished; }));
  std::vector<std::string> errors;
  for (const Message& message : all<Message>()) {
    if (message.severity == Severity::error) errors.push_back(message.text);
  }
  EXPECT_THAT(errors, testing::ElementsAre(testing::AllOf(testing::HasSubstr("step 1"), testing::HasSubstr("is full")),
                                           testing::HasSubstr("step 7")));
}

// ---- runs that are kept before they make way

TEST_F(FilesTest, ARunIsKeptBeforeAnotherTakesItsPlace) {
  script->on_keep = [this] {
    script->note("kept");
    return OpenRun{.path = "/state/run", .go_on = true};
  };
  start_with_run();
  session->post(Reset{with_seed(7)});
  ASSERT_TRUE(wait_for([&] { return !all<RunOpened>().empty(); }));
  ASSERT_TRUE(all<RunOpened>()[0].before);
  EXPECT_EQ(all<RunOpened>()[0].before->path, "/state/run");
  EXPECT_THAT(script->noted(), testing::IsSupersetOf({"kept", "reset 7"}));
  const auto noted = script->noted();
  EXPECT_LT(std::ranges::find(noted, "kept"), std::ranges::find(noted, "reset 7"));
  session->post(OpenRun{.path = "/state/run", .go_on = true});
  EXPECT_TRUE(wait_for([&] { return script->times("go on with /state/run") == 1; }));
}

TEST_F(FilesTest, ARunThatCannotBeKeptStaysUntilItIsGivenUp) {
  script->on_keep = []() -> std::optional<OpenRun> { throw std::runtime_error("the disk is full"); };
  start_with_run();
  session->post(Reset{with_seed(7)});
  ASSERT_TRUE(wait_for([&] { return !all<NotSaved>().empty(); }));
  const NotSaved answer = all<NotSaved>()[0];
  EXPECT_EQ(answer.why, "the disk is full");
  EXPECT_EQ(script->times("reset 7"), 0U);
  Reset again = std::get<Reset>(answer.wanted);
  again.discard_unsaved = true;
  session->post(again);
  EXPECT_TRUE(wait_for([&] { return script->times("reset 7") == 1; }));
}

TEST_F(FilesTest, BeforeTheEndTheRunIsKeptOnceOrWhyNotIsSaid) {
  std::atomic<bool> full = true;
  script->on_save = [&] {
    if (full) throw std::runtime_error("the disk is full");
  };
  script->last_saved = Autosave{.path = "/autosaves/one", .name = "one", .step = 0, .saved_at = 0};
  start_with_run();
  session->post(KeepRun{});
  ASSERT_TRUE(wait_for([&] { return !all<NotSaved>().empty(); }));
  EXPECT_TRUE(std::holds_alternative<KeepRun>(all<NotSaved>()[0].wanted));
  full = false;
  session->post(KeepRun{});
  ASSERT_TRUE(wait_for([&] { return !all<RunAutosaved>().empty(); }));
  EXPECT_EQ(all<RunAutosaved>()[0].saved_in, "/autosaves/one");
  session.reset();
  EXPECT_EQ(script->times("checkpoint 0"), 1U);
}

TEST_F(FilesTest, TheBestStepIsOpenedAfterTheRunWasSaved) {
  script->on_keep = [this] {
    script->note("kept");
    return OpenRun{.path = "/runs/mine", .go_on = true};
  };
  start_with_run();
  session->post(GoToBest{});
  ASSERT_TRUE(wait_for([&] { return script->times("open /runs/mine") == 1; }));
  EXPECT_TRUE(wait_for([&] { return script->times(fmt::format("use step {}", best_weights)) == 1; }));
  const auto noted = script->noted();
  EXPECT_LT(std::ranges::find(noted, "kept"), std::ranges::find(noted, "open /runs/mine"));
}

TEST_F(FilesTest, WhatCannotBeSavedIsNotLeftForTheBestStep) {
  script->on_keep = []() -> std::optional<OpenRun> { throw std::runtime_error("the disk is full"); };
  start_with_run();
  session->post(GoToBest{});
  EXPECT_TRUE(wait_for([&] {
    return std::ranges::any_of(all<Message>(),
                               [](const Message& m) { return m.text.find("disk is full") != m.text.npos; });
  }));
  EXPECT_EQ(script->times(fmt::format("use step {}", best_weights)), 0U);
}

TEST_F(FilesTest, KeepingDoesNotWaitForALongUpdate) {
  script->on_step = [this](std::int64_t, const YieldCallback& yield) { script->wait_at_gate(yield); };
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for_gate());
  session->post(KeepRun{});
  EXPECT_TRUE(wait_for([&] { return !all<RunAutosaved>().empty(); }));
  EXPECT_EQ(script->times("step ends"), 0U);
  session.reset();
  EXPECT_EQ(script->times("checkpoint 0"), 1U);
}

TEST_F(FilesTest, KeptRunsAreListedBeforeThereIsARun) {
  script->autosaves = {{"/state/run", "english-french", 3120, 1700000000}};
  start();
  session->post(ListAutosaves{});
  ASSERT_TRUE(wait_for([&] { return !all<AutosaveList>().empty(); }));
  EXPECT_EQ(all<AutosaveList>()[0].runs[0].step, 3120);
}

TEST(IsFinished, AtItsLastStepOrAfterItsPatience) {
  TrainingConfig training;
  training.steps = 100;
  std::vector<MetricPoint> points;
  EXPECT_FALSE(is_finished(training, points));
  for (const double validation : {3.0, 2.0, 2.5, 2.0}) {
    MetricPoint& point = points.emplace_back();
    point.step = 10 * std::ssize(points);
    point.set(metric("validation_nll"), validation);
  }
  EXPECT_FALSE(is_finished(training, points));
  training.patience = 3;
  EXPECT_FALSE(is_finished(training, points)) << "two validations since the lowest";
  training.patience = 2;
  EXPECT_TRUE(is_finished(training, points));
  training.patience = 0;
  training.steps = 40;
  EXPECT_TRUE(is_finished(training, points));
}

TEST_F(FilesTest, AFolderOfRunsIsListedAndTheRunStays) {
  for (const int seed : {1, 2}) {
    const fs::path run = folder / "sweep" / ("seed=" + std::to_string(seed));
    fs::create_directories(run);
    Config config;
    config.training.seed = seed;
    config.training.steps = 2;
    save_config(RunFolder{run}.config(), config);
    MetricPoint point;
    point.step = seed;
    point.set(metric("validation_nll"), 0.5);
    save_metrics(RunFolder{run}.metrics(), {&point, 1});
  }
  std::ofstream(folder / "sweep" / "sweep.txt") << "preset tiny\n";
  fs::create_directories(folder / "sweep" / "seed=3");
  fs::create_directories(folder / "sweep" / "seed=10");
  std::ofstream(RunFolder{folder / "sweep" / "seed=10"}.metrics()) << "{}\n";
  start_with_run();
  const std::size_t opened = all<RunOpened>().size();
  session->post(OpenRun{(folder / "sweep").string()});
  ASSERT_TRUE(wait_for([&] { return !all<RunsListed>().empty(); }));
  const RunsListed listed = all<RunsListed>()[0];
  ASSERT_EQ(listed.runs.size(), 2U);
  EXPECT_EQ(listed.runs[0].name, "seed=1");
  EXPECT_FALSE(listed.runs[0].finished);
  EXPECT_TRUE(listed.runs[1].finished);
  EXPECT_EQ(listed.runs[1].results[lowest_validation], 0.5);
  ASSERT_EQ(listed.complaints.size(), 2U) << "each bad folder once";
  EXPECT_THAT(listed.complaints[0], testing::StartsWith("seed=10 was skipped"));
  EXPECT_THAT(listed.complaints[1], testing::StartsWith("seed=3: no run"));
  EXPECT_EQ(all<RunOpened>().size(), opened);
}

TEST_F(FilesTest, TrainingGoesOnMeanwhile) {
  start_with_run();
  session->post(Train{});
  EXPECT_EQ(write({(folder / "a").string(), "a"}).error, "");
  EXPECT_EQ(activity(), Activity::training);
}

}  // namespace
}  // namespace attnscope
