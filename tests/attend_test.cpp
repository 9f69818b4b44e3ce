// The command that prints attention: JSON and CSV, with the model as it is and changed.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/interventions_text.h"
#include "engine/torch_engine.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

// A run of random weights.
class Attend : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Config config;
    config.model = {.d_model = 16, .num_heads = 2, .num_encoder_layers = 2, .num_decoder_layers = 1, .d_ff = 32};
    config.model.max_length = 20;
    config.training.device = "cpu";
    config.training.threads = 1;
    config.corpus.source = "copy";
    config.tokenizer.vocab_size = 64;
    TorchEngine engine;
    engine.reset(config, {});
    engine.save_run(run().string());
  }
  static void TearDownTestSuite() { fs::remove_all(run()); }

  static fs::path run() { return fs::temp_directory_path() / ("attnscope-attend-" + std::to_string(::getpid())); }

  static std::string printed(AttendOptions options) {
    options.run = run().string();
    options.source = "a b c";
    testing::internal::CaptureStdout();
    EXPECT_EQ(attend(options), 0);
    return testing::internal::GetCapturedStdout();
  }
  static nlohmann::json json(const AttendOptions& options) { return nlohmann::json::parse(printed(options)); }

  // Rows of the map of that part, layer and head.
  static nlohmann::json weights(const nlohmann::json& inspection, const char* part, int layer, int head) {
    for (const auto& map : inspection[part])
      if (map["layer"] == layer && map["head"] == head) return map["weights"];
    return {};
  }
};

TEST_F(Attend, CsvIsTheOneMapOfTheJson) {
  const nlohmann::json inspection = json({});
  AttendOptions options;
  options.format = "csv";
  options.part = "encoder";
  options.layer = 2;
  options.head = 1;
  const std::string csv = printed(options);
  const auto map = weights(inspection, "encoder", 2, 1);
  std::string expected;
  for (const auto& token : inspection["source"]) expected.append(1, ',').append(token["token"].get<std::string>());
  expected += "\n";
  EXPECT_EQ(csv.substr(0, expected.size()), expected);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), static_cast<std::ptrdiff_t>(map.size() + 1));
  const std::string first = csv.substr(csv.find(',', expected.size()) + 1);
  EXPECT_NEAR(std::stod(first), map[0][0].get<double>(), 1e-6);
}

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> found(1);
  for (const char c : line) {
    if (c == ',')
      found.emplace_back();
    else
      found.back() += c;
  }
  return found;
}

// Rows are what looks: of cross-attention the pieces being written; columns what is looked at.
TEST_F(Attend, CsvHasEveryWeightInTheRowOfItsQueryAndTheColumnOfItsKey) {
  const nlohmann::json inspection = json({});
  const auto expect_map = [&](const char* part, const char* queries, const char* keys) {
    AttendOptions options;
    options.format = "csv";
    options.part = part;
    options.head = 2;
    std::istringstream csv(printed(options));
    std::string line;
    std::getline(csv, line);
    std::vector<std::string> header = {""};
    for (const auto& token : inspection[keys]) header.push_back(token["token"]);
    EXPECT_EQ(fields(line), header) << part;
    const auto map = weights(inspection, part, 1, 2);
    ASSERT_EQ(map.size(), inspection[queries].size()) << part;
    for (std::size_t row = 0; row < map.size(); ++row) {
      ASSERT_TRUE(std::getline(csv, line)) << part;
      const std::vector<std::string> cells = fields(line);
      ASSERT_EQ(cells.size(), map[row].size() + 1);
      EXPECT_EQ(cells[0], inspection[queries][row]["token"].get<std::string>()) << part;
      for (std::size_t col = 0; col < map[row].size(); ++col)
        EXPECT_NEAR(std::stod(cells[col + 1]), map[row][col].get<double>(), 1e-6) << part;
    }
    EXPECT_FALSE(std::getline(csv, line)) << part;
  };
  expect_map("encoder", "source", "source");
  expect_map("decoder", "target_in", "target_in");
  expect_map("cross", "target_out", "source");
}

TEST_F(Attend, WithoutChangesThereIsNothingToCompare) {
  const nlohmann::json inspection = json({});
  EXPECT_FALSE(inspection.contains("untouched"));
}

TEST_F(Attend, AForcedQueryLooksAtItsKeyAlone) {
  AttendOptions options;
  options.interventions.forced = {"encoder.1.2:1->2"};
  const nlohmann::json inspection = json(options);
  const auto row = weights(inspection, "encoder", 1, 2)[1];
  for (std::size_t key = 0; key < row.size(); ++key) EXPECT_EQ(row[key].get<double>(), key == 2 ? 1 : 0);
  ASSERT_TRUE(inspection.contains("untouched"));
  EXPECT_EQ(inspection["untouched"]["output"], json({})["output"]);
}

TEST_F(Attend, AHiddenKeyGetsNothingAndTheOthersItsShare) {
  AttendOptions options;
  options.interventions.hidden = {"encoder.1.2:1->2", "encoder.1.2:1->0", "encoder.1.2:1->2"};
  const nlohmann::json inspection = json(options);
  const auto row = weights(inspection, "encoder", 1, 2)[1];
  double sum = 0;
  for (std::size_t key = 0; key < row.size(); ++key) sum += row[key].get<double>();
  EXPECT_EQ(row[0].get<double>(), 0);
  EXPECT_EQ(row[2].get<double>(), 0);
  EXPECT_NEAR(sum, 1, 1e-4);
  EXPECT_TRUE(inspection.contains("untouched"));
}

TEST_F(Attend, ScoresThatAreNotDividedAreFurtherApart) {
  AttendOptions options;
  options.target = "a b c";
  options.interventions.divided = true;
  const nlohmann::json divided = json(options);
  EXPECT_FALSE(divided.contains("untouched")) << "as the model was trained";
  options.interventions.divided = false;
  const nlohmann::json plain = json(options);
  ASSERT_TRUE(plain.contains("untouched"));
  EXPECT_EQ(plain["untouched"]["gold"], divided["gold"]);
  EXPECT_NE(plain["gold"], divided["gold"]);
  const auto entropy = [](const nlohmann::json& inspection) {
    double sum = 0;
    for (const auto& head : inspection["encoder"])
      for (const auto& of_row : head["entropies"]) sum += of_row.get<double>();
    return sum;
  };
  EXPECT_LT(entropy(plain), entropy(divided));
}

TEST_F(Attend, ChangesAreToldWithTheReferencesProbabilities) {
  AttendOptions options;
  options.target = "a b c";
  const nlohmann::json before = json(options);
  options.interventions.heads_off = {"cross.1.1", "cross.1.2"};
  options.interventions.layers_off = {"encoder.1"};
  options.interventions.replaced = {"source.0=c"};
  const nlohmann::json after = json(options);
  ASSERT_FALSE(before["gold"].empty());
  EXPECT_EQ(after["untouched"]["gold"], before["gold"]);
  ASSERT_EQ(after["gold"].size(), before["gold"].size());
  EXPECT_NE(after["gold"], before["gold"]);
  EXPECT_EQ(after["gold"][0]["token"], before["gold"][0]["token"]);
}

// ---- what such a sentence, or such a model, has not

class RefusedChanges : public Attend {
 protected:
  // The message for these interventions on a pass with four source tokens, including </s>, and four decoder inputs.
  static std::string refusal(const InterventionsText& interventions) {
    AttendOptions options;
    options.run = run().string();
    options.source = "a b c";
    options.target = "a b c";
    options.interventions = interventions;
    testing::internal::CaptureStdout();
    std::string message;
    try {
      attend(options);
    } catch (const ConfigError& error) {
      message = error.what();
    }
    EXPECT_EQ(testing::internal::GetCapturedStdout().empty(), !message.empty()) << "an answer or an error";
    return message;
  }
  static std::string refusal_to_force(const std::string& forced) {
    return refusal({.heads_off = {}, .layers_off = {}, .forced = {forced}, .replaced = {}, .hidden = {}});
  }
  static std::string refusal_to_replace(const std::string& replaced) {
    return refusal({.heads_off = {}, .layers_off = {}, .forced = {}, .replaced = {replaced}, .hidden = {}});
  }
};

using testing::AllOf;
using testing::HasSubstr;

TEST_F(RefusedChanges, AQueryOrKeyBeyondTheSentence) {
  EXPECT_THAT(refusal_to_force("encoder.1.1:99->0"), AllOf(HasSubstr("99"), HasSubstr("0 to 3")));
  EXPECT_THAT(refusal_to_force("encoder.1.1:0->4"), AllOf(HasSubstr("4"), HasSubstr("0 to 3")));
  EXPECT_THAT(refusal_to_force("decoder.1.1:4->0"), AllOf(HasSubstr("4"), HasSubstr("0 to 3")));
  EXPECT_THAT(refusal_to_force("cross.1.1:9->0"), AllOf(HasSubstr("9"), HasSubstr("0 to 3")));
  EXPECT_THAT(refusal_to_force("cross.1.1:0->9"), AllOf(HasSubstr("9"), HasSubstr("0 to 3")));
  for (const char* last : {"encoder.1.1:3->3", "encoder.2.1:0->3", "decoder.1.1:3->3", "cross.1.2:3->3"})
    EXPECT_EQ(refusal_to_force(last), "") << last;
}

TEST_F(RefusedChanges, AKeyThatTheDecoderMustNotSee) {
  EXPECT_THAT(refusal_to_force("decoder.1.2:1->2"), AllOf(HasSubstr("2"), HasSubstr("0 to 1")));
  EXPECT_EQ(refusal_to_force("decoder.1.2:2->1"), "");
}

TEST_F(RefusedChanges, ATokenBeyondTheSentence) {
  EXPECT_THAT(refusal_to_replace("source.99=a"), AllOf(HasSubstr("99"), HasSubstr("0 to 3")));
  EXPECT_THAT(refusal_to_replace("target.4=a"), AllOf(HasSubstr("4"), HasSubstr("0 to 3")));
  EXPECT_EQ(refusal_to_replace("source.3=a"), "");
  EXPECT_EQ(refusal_to_replace("target.3=a"), "");
}

TEST_F(RefusedChanges, ATextThatNamesNoPiece) {
  EXPECT_THAT(refusal_to_replace("source.1=  "), HasSubstr("source.1"));
}

TEST_F(RefusedChanges, AReplacementOfSeveralTokens) {
  EXPECT_THAT(refusal_to_replace("source.1=a b"), AllOf(HasSubstr("source.1: 'a b' is 2 tokens"), HasSubstr("▁a ▁b")));
  EXPECT_THAT(refusal_to_replace("target.1=a b c"), HasSubstr("is 3 tokens"));
}

TEST_F(RefusedChanges, ALayerOrHeadThatTheModelHasNot) {
  EXPECT_THAT(refusal({.heads_off = {"cross.1.3"}, .layers_off = {}, .forced = {}, .replaced = {}, .hidden = {}}),
              AllOf(HasSubstr("3"), HasSubstr("1 to 2")));
  EXPECT_THAT(refusal({.heads_off = {}, .layers_off = {"encoder.3"}, .forced = {}, .replaced = {}, .hidden = {}}),
              AllOf(HasSubstr("3"), HasSubstr("1 to 2")));
}

TEST_F(Attend, NeuronsAndFeaturesAreNamedToSteer) {
  ModelConfig model;
  model.num_encoder_layers = model.num_decoder_layers = 2;
  InterventionsText text;
  text.steered = {"2:4:king:man", "1:-0.5:neuron=17", "decoder.2:3:feature=0",
                  "decoder.1:1:feature=4@cross.2"};
  const std::vector<Steering> steered = interventions_from(text, model).steered;
  EXPECT_THAT(steered, testing::ElementsAre(Steering{{false, 1}, "king", "man", 4},
                                            Steering{{false, 0}, "neuron 17", "", -0.5F, {}, true},
                                            Steering{{true, 1}, "feature 0", "", 3, {}, true},
                                            Steering{{true, 0}, "feature 4@cross.2", "", 1, {}, true}));
  for (const char* wrong :
       {"1:1:neuron=", "1:1:feature=x", "decoder.1:1:king", "decoder.3:1:neuron=1", "3:1:neuron=1",
        "1:1:feature=4@cross.2", "1:1:feature=4@head.99", "1:1:feature=4@", "1:1:neuron=4@hidden"}) {
    text.steered = {wrong};
    EXPECT_THROW(interventions_from(text, model), ConfigError) << wrong;
  }
}

TEST_F(Attend, WhatIsWrittenWrongIsRefused) {
  const ModelConfig model;  // 8 heads or fewer, some layers
  for (const InterventionsText& text : std::vector<InterventionsText>{
           {.heads_off = {"encoder"}, .layers_off = {}, .forced = {}, .replaced = {}, .hidden = {}},
           {.heads_off = {"encoder.0.1"}, .layers_off = {}, .forced = {}, .replaced = {}, .hidden = {}},
           {.heads_off = {"encoder.1.99"}, .layers_off = {}, .forced = {}, .replaced = {}, .hidden = {}},
           {.heads_off = {"kitchen.1.1"}, .layers_off = {}, .forced = {}, .replaced = {}, .hidden = {}},
           {.heads_off = {}, .layers_off = {"cross.1"}, .forced = {}, .replaced = {}, .hidden = {}},
           {.heads_off = {}, .layers_off = {"encoder.99"}, .forced = {}, .replaced = {}, .hidden = {}},
           {.heads_off = {}, .layers_off = {}, .forced = {"encoder.1.1:2"}, .replaced = {}, .hidden = {}},
           {.heads_off = {}, .layers_off = {}, .forced = {"encoder.1.1:-1->0"}, .replaced = {}, .hidden = {}},
           {.heads_off = {}, .layers_off = {}, .forced = {}, .replaced = {"source.x=a"}, .hidden = {}},
           {.heads_off = {}, .layers_off = {}, .forced = {}, .replaced = {"source.1="}, .hidden = {}}}) {
    EXPECT_THROW(interventions_from(text, model), ConfigError);
  }
  ModelConfig recurrent;
  recurrent.architecture = "recurrent";
  EXPECT_THROW(
      interventions_from({.heads_off = {"cross.1.1"}, .layers_off = {}, .forced = {}, .replaced = {}, .hidden = {}},
                         recurrent),
      ConfigError);
  InterventionsText divided;
  divided.divided = false;
  EXPECT_THROW(interventions_from(divided, recurrent), ConfigError);
}

}  // namespace
}  // namespace attnscope
