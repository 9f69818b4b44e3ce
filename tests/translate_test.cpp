// The command that translates and continues: lines in, lines or JSON out.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands/commands.h"
#include "engine/torch_engine.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

TranslateOptions beam_of(std::int64_t beam, std::int64_t limit = 0) {
  TranslateOptions options;
  options.beam = beam;
  options.limit = limit;
  return options;
}

TranslateOptions sampled(const SamplingOptions& sampling, std::int64_t limit = 0) {
  TranslateOptions options;
  options.sample = true;
  options.sampling = sampling;
  options.limit = limit;
  return options;
}

TranslateOptions with_attention(TranslateOptions options) {
  options.attention = true;
  return options;
}

// A run of random weights: what it writes means nothing, but it writes it again.
class Translate : public testing::Test {
 protected:
  fs::path run = fs::temp_directory_path() / ("attnscope-translate-" + std::to_string(::getpid()));

  void SetUp() override {
    Config config = small();
    config.corpus.source = "copy";
    config.tokenizer.vocab_size = 64;
    save(config);
  }

  static Config small() {
    Config config;
    config.model = {.d_model = 16, .num_heads = 2, .num_encoder_layers = 1, .num_decoder_layers = 1, .d_ff = 32};
    config.model.max_length = 20;
    config.training.device = "cpu";
    config.training.threads = 1;
    return config;
  }

  void save(const Config& config) const {
    TorchEngine engine;
    engine.reset(config, {});
    engine.save_run(run.string());
  }

  void TearDown() override { fs::remove_all(run); }

  std::string translated(const std::string& lines, TranslateOptions options = {}) const {
    options.run = run.string();
    std::istringstream in(lines);
    std::streambuf* const before = std::cin.rdbuf(in.rdbuf());
    testing::internal::CaptureStdout();
    EXPECT_EQ(translate(options), 0);
    std::cin.rdbuf(before);
    std::cin.clear();
    return testing::internal::GetCapturedStdout();
  }

  std::vector<nlohmann::json> json(const std::string& lines, TranslateOptions options = {}) const {
    options.json = true;
    std::istringstream out(translated(lines, options));
    std::vector<nlohmann::json> objects;
    for (std::string line; std::getline(out, line);) objects.push_back(nlohmann::json::parse(line));
    return objects;
  }
};

TEST_F(Translate, ALineForALine) {
  const std::string once = translated("a b c\n");
  EXPECT_EQ(std::count(once.begin(), once.end(), '\n'), 1);
  std::string too_long;
  for (int i = 0; i < 30; ++i) too_long += "a b c ";
  const std::string three = translated("a b c\n" + too_long + "\na b c");  // the beginning of the second
  EXPECT_EQ(std::count(three.begin(), three.end(), '\n'), 3);
  EXPECT_TRUE(three.starts_with(once) && three.ends_with(once));
}

TEST_F(Translate, ManyLinesGiveWhatEveryLineGives) {
  std::vector<std::string> lines;
  for (int i = 0; i < 1100; ++i) {
    std::string line;
    for (int n = 0; n < i * 7 % 11; ++n) line += std::string(1, static_cast<char>('a' + i * (n + 3) % 26)) + " ";
    lines.push_back(line);
  }
  for (TranslateOptions options : {beam_of(1), beam_of(3)})
    for (const bool as_json : {false, true}) {
      options.json = as_json;
      std::string all, by_line;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        all += lines[i] + "\n";
        if (i % 50 == 0) by_line += translated(lines[i] + "\n", options);
      }
      std::istringstream together(translated(all, options));
      std::string some;
      std::size_t number = 0;
      for (std::string line; std::getline(together, line); ++number)
        if (number % 50 == 0) some += line + "\n";
      EXPECT_EQ(number, lines.size());
      EXPECT_EQ(some, by_line) << options.beam << (as_json ? ", JSON" : "");
    }
}

// So that the lines of the output still stand beside those of the input.
TEST_F(Translate, ALineWithNothingToTranslateStaysEmpty) {
  const std::string once = translated("a b c\n");
  EXPECT_EQ(translated("\n \t\na b c\n"), "\n\n" + once);
  EXPECT_EQ(json("\na b c\n")[0]["hypotheses"].size(), 0U);
}

TEST_F(Translate, ALineThatCannotBeReadIsNamedAndStaysEmpty) {
  const std::string once = translated("a b c\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(translated("a b c\na \xff b\n" + std::string(10 << 20, 'a') + "\na b c\n"), once + "\n\n" + once);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(testing::HasSubstr("line 2: byte 3 is not UTF-8, left empty\n"),
                             testing::HasSubstr("line 3: longer than 1048576 bytes, left empty\n")));
}

TEST_F(Translate, AByteOrderMarkIsNoPartOfTheText) {
  EXPECT_EQ(translated("\xEF\xBB\xBF"
                       "a b c\n"),
            translated("a b c\n"));
}

TEST_F(Translate, JsonHasEveryHypothesisPieceByPiece) {
  const auto lines = json("a b c\nb d\n", beam_of(3));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["source"], "a b c");
  for (const auto& line : lines) {
    ASSERT_EQ(line["hypotheses"].size(), 3U);
    double last = 0;
    for (const auto& hypothesis : line["hypotheses"]) {
      double sum = 0;
      for (const auto& token : hypothesis["tokens"]) sum += token["log_prob"].get<double>();
      EXPECT_NEAR(hypothesis["log_prob"].get<double>(), sum, 1e-9);
      EXPECT_EQ(hypothesis["tokens"].back()["token"] == "</s>", hypothesis["finished"].get<bool>());
      EXPECT_FALSE(hypothesis.contains("attention"));
      if (last != 0) {
        EXPECT_LE(hypothesis["score"].get<double>(), last);
      }
      last = hypothesis["score"];
    }
  }
  EXPECT_EQ(lines[0]["hypotheses"][0]["text"].get<std::string>() + "\n", translated("a b c\n", beam_of(3)));
}

TEST_F(Translate, AttentionIsBySourceAndDecoderInput) {
  const auto hypothesis = json("a b c\n", with_attention(beam_of(1)))[0]["hypotheses"][0];
  const auto& attention = hypothesis["attention"];
  EXPECT_EQ(attention["keys"].size(), 4U);
  EXPECT_EQ(attention["keys"][3]["token"], "</s>");
  EXPECT_EQ(attention["queries"][0]["token"], "<s>");
  ASSERT_EQ(attention["heads"].size(), 2U);
  EXPECT_EQ(attention["heads"][1]["head"], 2);
  const auto weights = attention["heads"][1]["weights"].get<std::vector<std::vector<double>>>();
  ASSERT_EQ(weights.size(), hypothesis["tokens"].size());
  for (const auto& row : weights) EXPECT_NEAR(row[0] + row[1] + row[2] + row[3], 1, 1e-5);
}

TEST_F(Translate, TheTreeHoldsEveryHypothesisWithItsScore) {
  TranslateOptions options = beam_of(3);
  options.tree = true;
  const auto line = json("a b c\n", options)[0];
  const auto& tree = line["tree"];
  std::vector<double> ended;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const int parent = tree[i]["parent"];
    ASSERT_LT(parent, static_cast<int>(i));
    const double before = parent < 0 ? 0 : tree[static_cast<std::size_t>(parent)]["total"].get<double>();
    EXPECT_NEAR(tree[i]["total"].get<double>(), before + tree[i]["log_prob"].get<double>(), 1e-9);
    if (parent >= 0) {
      EXPECT_EQ(tree[static_cast<std::size_t>(parent)]["fate"], "kept");
    }
    if (tree[i]["fate"] == "finished") ended.push_back(tree[i]["score"]);
  }
  std::sort(ended.rbegin(), ended.rend());
  for (std::size_t i = 0; i < line["hypotheses"].size() && !ended.empty(); ++i) {
    EXPECT_NEAR(line["hypotheses"][i]["score"].get<double>(), ended[i], 1e-9);
  }
  EXPECT_FALSE(json("a b c\n", beam_of(3))[0].contains("tree"));
}

TEST_F(Translate, SamplesAreThoseOfTheirSeed) {
  const auto drawn = [&](std::int64_t seed) {
    return translated("a b c\na b c\n", sampled({.temperature = 3, .seed = seed}));
  };
  const std::string first = drawn(1);
  EXPECT_EQ(drawn(1), first);
  EXPECT_NE(drawn(2), first);
  EXPECT_NE(first.substr(0, first.find('\n')), first.substr(first.find('\n') + 1, first.find('\n')));
  EXPECT_EQ(translated("a b c\n", sampled({.temperature = 0})), translated("a b c\n"));
  EXPECT_THROW(translate(sampled({.top_p = 2})), ConfigError);
}

TEST_F(Translate, SeveralSamplesOfALineAreDrawnOneBehindTheOther) {
  TranslateOptions three = sampled({.temperature = 3, .seed = 1});
  three.samples = 3;
  const auto hypotheses = json("a b c\n", three)[0]["hypotheses"];
  ASSERT_EQ(hypotheses.size(), 3U);
  std::string texts;
  for (const auto& hypothesis : hypotheses) texts += hypothesis["text"].get<std::string>() + "\n";
  EXPECT_EQ(texts, translated("a b c\na b c\na b c\n", sampled({.temperature = 3, .seed = 1})));
}

TEST_F(Translate, TheLimitIsKept) {
  for (const std::int64_t limit : {1, 3}) {
    const auto hypotheses = json("a b c\n", beam_of(2, limit))[0]["hypotheses"];
    ASSERT_FALSE(hypotheses.empty());
    for (const auto& hypothesis : hypotheses) EXPECT_LE(hypothesis["tokens"].size(), static_cast<std::size_t>(limit));
  }
  // Positions end at max_length.
  EXPECT_LE(json("a b c\n", beam_of(1, 500))[0]["hypotheses"][0]["tokens"].size(), 20U);
}

TEST_F(Translate, ALanguageModelContinuesBeyondItsContext) {
  fs::remove_all(run);
  fs::create_directories(run);
  const fs::path text = run / "text.txt";
  {
    std::ofstream out(text);
    for (int i = 0; i < 60; ++i) out << "to be or not to be\nthat is the question\n";
  }
  Config config = small();
  config.corpus.source = text.string();
  config.tokenizer.type = "char";
  config.model.architecture = "decoder-only";
  save(config);

  const std::string prompt = "to be or not to be that is the question";
  const auto lines = json(prompt + "\n\n", with_attention(sampled({}, 50)));
  ASSERT_EQ(lines.size(), 2U);
  for (const auto& line : lines) {
    ASSERT_EQ(line["hypotheses"].size(), 1U);
    const auto& hypothesis = line["hypotheses"][0];
    EXPECT_EQ(hypothesis["tokens"].size(), 50U);
    EXPECT_FALSE(hypothesis["finished"].get<bool>());
    EXPECT_EQ(hypothesis["attention"]["keys"].size(), 20U);
    EXPECT_EQ(hypothesis["attention"]["heads"].size(), 2U);
    EXPECT_THAT(hypothesis["text"].get<std::string>(), testing::Not(testing::HasSubstr("question")));
  }
  EXPECT_EQ(translated(prompt, sampled({}, 50)), lines[0]["hypotheses"][0]["text"].get<std::string>() + "\n");
}

}  // namespace
}  // namespace attnscope
