// The command that evaluates: which part of which corpus is scored.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "engine/torch_engine.h"
#include "files/storage/run_folder.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

class Evaluate : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("attnscope-evaluate-" + std::to_string(::getpid()));

  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }

  EvaluateOptions of_run(const Config& config) const {
    TorchEngine engine;
    engine.reset(config, {});
    engine.save_run((folder / "run").string());
    EvaluateOptions options;
    options.run = (folder / "run").string();
    options.json = true;
    return options;
  }

  struct Printed {
    nlohmann::json json;
    std::string said;
  };
  static Printed evaluated(const EvaluateOptions& options) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    EXPECT_EQ(evaluate(options), 0);
    std::string said = testing::internal::GetCapturedStderr();
    return {nlohmann::json::parse(testing::internal::GetCapturedStdout()), std::move(said)};
  }
};

// So many pairs of one word, and as many of six.
std::string pairs_sorted_by_length(int count) {
  std::string text;
  for (const char* words : {"a", "a b c d e f"}) {
    for (int i = 0; i < count; ++i) text += words + std::to_string(i) + "\tb\n";
  }
  return text;
}

// ---- pairs

TEST_F(Evaluate, AFileThatWasNotTrainedOnIsScoredWhole) {
  EvaluateOptions options = of_run(tiny_config());
  options.corpus = file("other.tsv", pairs_sorted_by_length(30));
  const Printed whole = evaluated(options);
  EXPECT_EQ(whole.json["pairs"], 60);
  EXPECT_THAT(whole.said, AllOf(HasSubstr("other.tsv"), HasSubstr("all")));
  options.split = "test";
  EXPECT_EQ(evaluated(options).json["pairs"], 3) << "as asked";
}

TEST_F(Evaluate, UsesTheBestWeightsIfAsked) {
  Config config = tiny_config();
  config.training.noam_factor = 2;
  TorchEngine engine;
  engine.reset(config, {});
  for (int step = 0; step < 20; ++step) engine.train_step({});
  config.training.noam_factor = 100;  // far too high: the loss rises
  engine.adjust(config);
  for (int step = 0; step < 20; ++step) engine.train_step({});
  engine.save_run((folder / "run").string());
  EvaluateOptions options;
  options.run = (folder / "run").string();
  options.json = true;
  options.split = "validation";
  const double newest = evaluated(options).json["nll"];
  options.step = best_weights;
  EXPECT_LT(evaluated(options).json["nll"].get<double>(), newest);
  options.step = 3;
  EXPECT_THROW(evaluate(options), RunError);
}

TEST_F(Evaluate, OfTheFileThatWasTrainedOnOnlyTheTestPart) {
  const std::string corpus = file("own.tsv", pairs_sorted_by_length(50));
  EvaluateOptions options = of_run(tiny_config(corpus));
  const Printed own = evaluated(options);
  EXPECT_EQ(own.json["pairs"], 5);
  EXPECT_THAT(own.said, IsEmpty());
  options.corpus = corpus;
  const Printed named = evaluated(options);
  EXPECT_EQ(named.json, own.json);
  EXPECT_THAT(named.said, AllOf(HasSubstr("own.tsv"), HasSubstr("test")));
  options.corpus = file("copy.tsv", pairs_sorted_by_length(50));
  EXPECT_EQ(evaluated(options).json, own.json) << "the same text under another name";
  options.split = "all";
  EXPECT_EQ(evaluated(options).json["pairs"], 100);
}

TEST_F(Evaluate, OfTheFileThatWasTrainedOnAndHasChangedSinceOnlyTheTestPart) {
  const std::string corpus = file("own.tsv", pairs_sorted_by_length(50));
  EvaluateOptions options = of_run(tiny_config(corpus));
  file("own.tsv", pairs_sorted_by_length(60));
  options.corpus = fs::relative(corpus).string();
  EXPECT_EQ(evaluated(options).json["pairs"], 6);
}

TEST_F(Evaluate, TwoPairsAreTwoPairs) {
  EvaluateOptions options = of_run(tiny_config());
  options.corpus = file("two.tsv", "a\tb\nb\ta\n");
  EXPECT_EQ(evaluated(options).json["pairs"], 2);
}

TEST_F(Evaluate, SomePairsStandForAllOfAFileSortedByLength) {
  EvaluateOptions options = of_run(tiny_config());
  options.corpus = file("other.tsv", pairs_sorted_by_length(30));
  for (const std::int64_t limit : {10, 59}) {
    options.limit = limit;
    const nlohmann::json json = evaluated(options).json;
    EXPECT_EQ(json["pairs"], limit);
    ASSERT_EQ(json["by_length"].size(), 2U) << "and none of no words";
    // The parts of the split follow each other, each sorted.
    EXPECT_GE(json["by_length"][0]["pairs"], limit / 2 - 1);
    EXPECT_GE(json["by_length"][1]["pairs"], limit / 2 - 1);
  }
}

// ---- text

class EvaluateText : public Evaluate {
 protected:
  static std::string verses(int lines) {
    std::string text;
    for (int i = 0; i < lines; ++i) text += "to be or not to be " + std::to_string(i % 7) + '\n';
    return text;
  }
  EvaluateOptions of_language_model() const {
    Config config = tiny_config(file("own.txt", verses(50)));
    config.tokenizer.type = "char";
    config.model.architecture = "decoder-only";
    return of_run(config);
  }
};

TEST_F(EvaluateText, AnotherIsScoredWholeAndTheOwnInItsTestPart) {
  EvaluateOptions options = of_language_model();
  EXPECT_EQ(evaluated(options).json["characters"], 105);
  options.corpus = file("own.txt", verses(50));
  EXPECT_EQ(evaluated(options).json["characters"], 105);
  options.corpus = file("other.txt", verses(20));
  EXPECT_EQ(evaluated(options).json["characters"], 420);
  options.corpus = file("short.txt", "t");
  EXPECT_EQ(evaluated(options).json["characters"], 1);
}

}  // namespace
}  // namespace attnscope
