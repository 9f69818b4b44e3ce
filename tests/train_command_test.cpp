// The command that trains: what of its options stays with the run, and what it says when a run is resumed otherwise.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "commands/commands.h"
#include "commands/progress.h"
#include "commands/say.h"
#include "files/storage/run_folder.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

class TrainThreads : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("attnscope-train-" + std::to_string(::getpid()));
  fs::path run = folder / "run";

  void SetUp() override {
    fs::create_directories(folder);
    Config config = tiny_config();
    config.training.threads = 0;
    save_config(folder / "config.json", config);
  }
  void TearDown() override { fs::remove_all(folder); }

  TrainOptions beginning(std::int64_t steps) const {
    TrainOptions options;
    options.config_file = (folder / "config.json").string();
    options.out = run.string();
    options.steps = steps;
    return options;
  }
  TrainOptions going_on(std::int64_t steps) const {
    TrainOptions options;
    options.out = run.string();
    options.steps = steps;
    options.resume = true;
    return options;
  }

  // Returns the output on stderr.
  static std::string trained(const TrainOptions& options) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(train(options), 0);
    return testing::internal::GetCapturedStderr();
  }

  std::int64_t kept_threads() const { return load_config(RunFolder{run}.config()).training.threads; }
};

TEST_F(TrainThreads, AreKeptInTheRun) {
  TrainOptions options = beginning(2);
  options.threads = 2;
  EXPECT_THAT(trained(options), HasSubstr("CPU, 2 threads"));
  EXPECT_EQ(kept_threads(), 2);
  EXPECT_THAT(trained(going_on(4)), AllOf(HasSubstr("CPU, 2 threads"), Not(HasSubstr("differ"))));
}

TEST_F(TrainThreads, AnotherNumberIsSaidAndKept) {
  TrainOptions options = beginning(2);
  options.threads = 2;
  trained(options);
  options = going_on(3);
  options.threads = 1;
  EXPECT_THAT(trained(options),
              AllOf(HasSubstr("was 2 and is now 1"), HasSubstr("CPU, 1 thread"), HasSubstr("differ")));
  EXPECT_EQ(kept_threads(), 1);
  options.threads = 1;
  options.steps = 4;
  EXPECT_THAT(trained(options), Not(HasSubstr("differ"))) << "the same as before";
  options.threads = 0;
  options.steps = 5;
  options.set = {"training.threads=2"};
  EXPECT_THAT(trained(options), HasSubstr("differ"));
}

TEST_F(TrainThreads, WithoutAWishAreTheConfigurations) {
  trained(beginning(1));
  EXPECT_EQ(kept_threads(), 0);
}

// ---- what it says

TEST_F(TrainThreads, SaysOnWhatItTrains) {
  EXPECT_THAT(trained(beginning(1)), HasSubstr("training pairs of attnscope-letters"));
}

TEST_F(TrainThreads, SaysWhatBecomesOfThePinnedSentencesWhenAsked) {
  TrainOptions options = beginning(2);
  options.pin = {"a b"};
  options.set = {"training.validation_interval=1"};
  EXPECT_THAT(trained(options), Not(HasSubstr("→")));
  fs::remove_all(run);
  options.show_pinned = true;
  EXPECT_THAT(trained(options), HasSubstr("  a b\n  → "));
}

TEST_F(TrainThreads, WhenQuietSaysNothingThatIsWell) {
  quiet = true;
  EXPECT_EQ(trained(beginning(1)), "");
  quiet = false;
}

TEST_F(TrainThreads, ThatFailsLeavesNoFolderBehind) {
  TrainOptions options = beginning(1);
  options.corpus = "/nowhere/at all";
  EXPECT_THROW(train(options), std::runtime_error);
  EXPECT_FALSE(fs::exists(run));
  fs::create_directory(run);
  EXPECT_THROW(train(options), std::runtime_error);
  EXPECT_TRUE(fs::exists(run)) << "it was there before";
}

TEST(Progress, IsCutToTheTerminalByCharacters) {
  EXPECT_EQ(cut_to_columns("abc", 5), "abc");
  EXPECT_EQ(cut_to_columns("abc", 2), "ab");
  EXPECT_EQ(cut_to_columns("a·━b", 3), "a·━");
  EXPECT_EQ(cut_to_columns("a·━b", 0), "");
}

}  // namespace
}  // namespace attnscope
