// The commands about several runs: two trained in lockstep, gone on with, listed and compared.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands/commands.h"
#include "files/storage/comparison_folder.h"
#include "files/storage/file.h"
#include "files/storage/run_folder.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

class CompareCommands : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("attnscope-compare-" + std::to_string(::getpid()));

  void SetUp() override {
    fs::create_directories(folder);
    save_config(folder / "config.json", tiny_config());
  }
  void TearDown() override { fs::remove_all(folder); }

  TrainOptions training(const std::string& out, std::int64_t steps) const {
    TrainOptions options;
    options.config_file = (folder / "config.json").string();
    options.out = (folder / out).string();
    options.steps = steps;
    return options;
  }
  TrainOptions comparing(const std::string& out, std::int64_t steps) const {
    TrainOptions options = training(out, steps);
    options.compare = {"model.positions=alibi"};
    return options;
  }

  // Returns what the command prints on stdout.
  template <typename Command, typename Options>
  static std::string said(Command command, const Options& options) {
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    EXPECT_EQ(command(options), 0);
    testing::internal::GetCapturedStderr();
    return testing::internal::GetCapturedStdout();
  }

  // The losses, without the seconds that they took.
  std::vector<std::string> losses_of(const std::string& run) const {
    std::vector<std::string> lines;
    for (const MetricPoint& point : load_metrics(RunFolder{folder / run}.metrics())) {
      auto json = nlohmann::json::parse(metrics_line(point));
      json.erase("tokens_per_second");
      lines.push_back(json.dump());
    }
    return lines;
  }

  nlohmann::json compared(const std::string& a, const std::string& b) const {
    CompareOptions options;
    options.a = (folder / a).string();
    options.b = (folder / b).string();
    options.source = "a b c d";
    options.json = true;
    return nlohmann::json::parse(said(compare, options));
  }
};

TEST_F(CompareCommands, TwoRunsLearnWhatEachWouldAlone) {
  said(train, training("alone", 6));
  said(train, comparing("both", 6));
  EXPECT_TRUE(is_comparison(folder / "both"));
  EXPECT_EQ(losses_of("both/a"), losses_of("alone"));
  EXPECT_EQ(losses_of("both/b").size(), 6U);
  EXPECT_NE(losses_of("both/b"), losses_of("alone"));
}

// After kill -9, one run may have more steps than the other.
TEST_F(CompareCommands, OneThatWasCutShortEndsAsIfItNeverWas) {
  said(train, comparing("whole", 8));
  said(train, comparing("cut", 4));
  TrainOptions ahead = training("cut/a", 6);
  ahead.config_file.clear();
  ahead.resume = true;
  said(train, ahead);
  TrainOptions rest;
  rest.out = (folder / "cut").string();
  rest.steps = 8;
  rest.resume = true;
  said(train, rest);
  EXPECT_EQ(losses_of("cut/a"), losses_of("whole/a"));
  EXPECT_EQ(losses_of("cut/b"), losses_of("whole/b"));
  EXPECT_EQ(read_file(folder / "cut/b/model.safetensors", 1U << 24U),
            read_file(folder / "whole/b/model.safetensors", 1U << 24U));
}

TEST_F(CompareCommands, ARunIsListedWithWhatItDiffersIn) {
  said(train, comparing("both", 5));
  const auto list = nlohmann::json::parse(said(runs, RunsOptions{folder.string(), true}));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["run"], "both/a");
  EXPECT_EQ(list[0]["configuration"], nlohmann::json({{"model.positions", "shaw"}}));
  EXPECT_EQ(list[1]["configuration"]["model.positions"], "alibi");
  EXPECT_EQ(list[1]["steps"], 5);
  EXPECT_GT(list[1]["validation_nll"], 0);
  EXPECT_THAT(said(runs, RunsOptions{folder.string()}), testing::HasSubstr("alibi"));
}

TEST_F(CompareCommands, ARunComparedWithItselfDiffersInNothing) {
  said(train, training("alone", 3));
  const nlohmann::json json = compared("alone", "alone");
  EXPECT_EQ(json["title"], "no difference");
  EXPECT_EQ(json["losses"]["largest_difference"], 0);
  EXPECT_EQ(json["losses"]["common_steps"], 3);
  EXPECT_TRUE(json["outputs"]["same"]);
  EXPECT_EQ(json["scores"]["a"], json["scores"]["b"]);
  ASSERT_FALSE(json["heads"].empty());
  for (const auto& head : json["heads"]) EXPECT_EQ(head["apart"], 0);
}

TEST_F(CompareCommands, WhatTwoRunsDifferInIsSaid) {
  said(train, comparing("both", 3));
  const nlohmann::json json = compared("both/a", "both/b");
  EXPECT_EQ(json["title"], "Positions: shaw · alibi");
  EXPECT_TRUE(json["same_batches"]);
  EXPECT_GT(json["losses"]["largest_difference"], 0);
  EXPECT_TRUE(json["positions"][0].contains("why_not"));
  CompareOptions options;
  options.comparison = (folder / "both").string();
  options.source = "a b c d";
  EXPECT_THAT(said(compare, options), testing::HasSubstr("Output of A: "));
}

TEST_F(CompareCommands, TextHasLabelsAndNoDistanceWhereNothingIsCompared) {
  said(train, training("first", 1));
  CompareOptions options;
  options.a = (folder / "first").string();
  options.source = "a b c d";
  for (int seed = 2; seed < 40; ++seed) {
    TrainOptions other = training("other-" + std::to_string(seed), 1);
    other.seed = seed;
    said(train, other);
    const nlohmann::json json = compared("first", "other-" + std::to_string(seed));
    if (json["outputs"]["shared_tokens"] != 0) continue;
    // The first query sees only the start token.
    bool decoder = false;
    for (const auto& head : json["heads"]) {
      const bool single_key = head["head"].get<std::string>().starts_with("decoder");
      EXPECT_EQ(head.contains("why_not"), single_key) << head;
      decoder = decoder || single_key;
    }
    EXPECT_TRUE(decoder);
    options.b = (folder / ("other-" + std::to_string(seed))).string();
    const std::string text = said(compare, options);
    EXPECT_THAT(text, testing::HasSubstr("—  Nothing to compare: queries with the same input have only one key."));
    EXPECT_THAT(text, testing::HasSubstr("\nNLL, nats/token "));
    EXPECT_THAT(text, testing::HasSubstr("\nexact match "));
    EXPECT_THAT(text, testing::Not(testing::ContainsRegex("[a-z]_[a-z]")));
    return;
  }
  FAIL() << "the outputs of all runs begin with the same token";
}

TEST_F(CompareCommands, ArchitecturesAndTokenizersThatDifferAreComparedAsFarAsTheyCanBe) {
  TrainOptions other = comparing("both", 2);
  other.compare = {"model.architecture=recurrent", "model.attention=none", "tokenizer.type=char"};
  said(train, other);
  const nlohmann::json json = compared("both/a", "both/b");
  EXPECT_FALSE(json["same_batches"]);
  EXPECT_THAT(json["why_not"].get<std::string>(), testing::HasSubstr("tokenizers"));
  EXPECT_EQ(json["heads"][0]["why_not"], "B has no attention.");
  EXPECT_TRUE(json["scores"]["same_pairs"]);
  EXPECT_TRUE(json["outputs"].contains("shared_tokens"));
}

TEST_F(CompareCommands, ARunThatIsGoneIsNamed) {
  said(train, comparing("both", 2));
  fs::remove_all(folder / "both/b");
  CompareOptions options;
  options.comparison = (folder / "both").string();
  EXPECT_THROW(compare(options), RunError);
  const auto list = nlohmann::json::parse(said(runs, RunsOptions{folder.string(), true}));
  EXPECT_EQ(list.size(), 1U);
}

TEST_F(CompareCommands, ItTakesTheFolderOfNothingElse) {
  said(train, training("alone", 1));
  EXPECT_THROW(train(comparing("alone", 1)), FileError);
}

}  // namespace
}  // namespace attnscope
