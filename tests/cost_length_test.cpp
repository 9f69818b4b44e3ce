// The cost of layers by length, and the loss of models by length.
#include <gmock/gmock.h>

#include <algorithm>

#include "inspect/evaluation/cost.h"
#include "inspect/evaluation/length.h"
#include "model_fixture.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

TEST(Cost, EveryLayerIsMeasuredAtEveryLength) {
  ModelConfig config = small_config();
  int told = 0;
  const CostResult inspection = measure_costs(config, {.longest = 64}, [&](double) { ++told; });
  EXPECT_EQ(told, 9);
  ASSERT_EQ(inspection.curves.size(), 3U);
  EXPECT_GT(inspection.processor_share, 0);
  EXPECT_LE(inspection.processor_share, 1);
  for (const CostCurve& curve : inspection.curves) {
    ASSERT_EQ(curve.points.size(), 3U);
    EXPECT_EQ(curve.points.front().length, 16);
    EXPECT_EQ(curve.points.back().length, 64);
    EXPECT_TRUE(curve.ended.empty());
    for (const CostPoint& point : curve.points) {
      EXPECT_GT(point.forward_ms, 0);
      EXPECT_GT(point.backward_ms, 0);
    }
  }
}

// A recurrent layer and a convolution hold a number of values a piece, attention n² of them.
TEST(Cost, MemoryGrowsAsItMust) {
  const CostResult inspection = measure_costs(small_config(), {.longest = 512}, [](double) {});
  const auto grown = [&](std::size_t layer) {
    const std::vector<CostPoint>& points = inspection.curves[layer].points;
    return points.back().megabytes / points[points.size() - 2].megabytes;
  };
  EXPECT_GT(grown(0), 2.5) << "4 at last";
  EXPECT_NEAR(grown(1), 2, 0.2);
  EXPECT_NEAR(grown(2), 2, 0.4);
}

TEST(Cost, EndsWhereABudgetIsSpentAndCanBeGivenUp) {
  const CostResult none = measure_costs(small_config(), {.longest = 64, .seconds = 0}, [](double) {});
  for (const CostCurve& curve : none.curves) {
    EXPECT_TRUE(curve.points.empty());
    EXPECT_THAT(curve.ended, HasSubstr("time limit of 0 s"));
  }
  const CostResult small = measure_costs(small_config(), {.longest = 256, .megabytes = 1}, [](double) {});
  EXPECT_THAT(small.curves[0].ended, HasSubstr("MB"));
  struct Stop {};
  EXPECT_THROW(measure_costs(small_config(), {}, [](double) { throw Stop(); }), Stop);
}

// ---- length

Corpus letters(std::int64_t longest) {
  Corpus corpus;
  corpus.name = "copy";
  for (std::int64_t words = 2; words <= longest; ++words) {
    corpus.train.push_back(pairs_of_length("copy", words, 1, 5).front());
    for (const Pair& pair : pairs_of_length("copy", words, 3, 6)) corpus.test.push_back(pair);
  }
  return corpus;
}

const Tokenizer& letter_tokenizer() {
  static const Tokenizer trained = [] {
    TokenizerConfig config;
    config.type = "char";
    return Tokenizer(
        Tokenizer::train(std::vector<std::string>{"a b c d e f g h i j k l m n o p q r s t u v w x y z"}, config));
  }();
  return trained;
}

Model still(ModelConfig config) {
  torch::manual_seed(1);
  config.num_encoder_layers = config.num_decoder_layers = 1;
  Model model = make_model(config, letter_tokenizer().vocab_size());
  model->freeze();
  return model;
}

TEST(Length, TasksGoOnBeyondTrainingAlsoBeyondTheModelsOwnRoom) {
  ModelConfig config = small_config();
  config.max_length = 12;
  const Model model = still(config);
  const LengthResult inspection =
      measure_lengths(*model, letter_tokenizer(), letters(4), {.pairs_a_length = 2}, [](double) {});
  EXPECT_EQ(inspection.trained, 4);
  EXPECT_EQ(inspection.model, "Transformer, shaw");
  EXPECT_TRUE(inspection.problem.empty()) << inspection.problem;
  ASSERT_EQ(inspection.points.size(), 11U) << "2 … 12";
  for (const LengthPoint& point : inspection.points) {
    EXPECT_EQ(point.pairs, 2);
    EXPECT_GT(point.nll.per_token(), 0);
  }
  EXPECT_EQ(model->config().max_length, 12);
}

TEST(Length, TheSameWeightsInAModelWithMoreRoomSayTheSame) {
  ModelConfig config = small_config();
  const Model wide = still(config);
  config.max_length = 12;
  const Model narrow = still(config);
  const auto points = [&](SequenceModel& model) {
    return measure_lengths(model, letter_tokenizer(), letters(4), {.pairs_a_length = 2}, [](double) {}).points;
  };
  const auto a = points(*wide), b = points(*narrow);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i].nll.per_token(), b[i].nll.per_token(), 1e-5);
}

TEST(Length, LearnedPositionsEndAndOtherCorporaHaveNothingLonger) {
  ModelConfig config = small_config();
  config.max_length = 12;
  config.positions = "learned";
  const LengthResult learned =
      measure_lengths(*still(config), letter_tokenizer(), letters(4), {.pairs_a_length = 2}, [](double) {});
  EXPECT_THAT(learned.problem, HasSubstr("learned"));
  EXPECT_EQ(learned.points.back().length, 4);
  Corpus other = letters(4);
  other.name = "pairs.txt";
  const LengthResult file = measure_lengths(*still(small_config()), letter_tokenizer(), other, {}, [](double) {});
  EXPECT_THAT(file.problem, HasSubstr("copy"));
  EXPECT_EQ(file.points.back().length, 4);
}

// Every example is "a b a b …", so each position's loss is that of one forward pass.
TEST(Length, OfADrawnCorpusNewExamplesOfTwiceTheContext) {
  ModelConfig config = small_config();
  config.architecture = "decoder-only";
  config.max_length = 16;
  Corpus corpus;
  corpus.drawn = {.words = {"a", "b"}, .draw = [](Random&, std::size_t length) {
                    DrawnExample example;
                    for (std::size_t i = 0; i < length; ++i) {
                      example.words.push_back(static_cast<int>(i % 2));
                      example.determined.push_back(i >= 5);
                    }
                    return example;
                  }};
  corpus.text.train = "a b a b\n";
  const LengthResult result = measure_lengths(*still(config), letter_tokenizer(), corpus, {}, [](double) {});
  config.max_length = 32;
  const Model wide = still(config);
  const torch::NoGradGuard no_grad;
  std::vector<std::int64_t> ids = {letter_tokenizer().special().end};
  for (int i = 0; i < 31; ++i) ids.push_back(letter_tokenizer().encode(i % 2 == 0 ? "a" : "b").front().id);
  torch::Tensor logits = wide->logits(wide->decode(torch::tensor(ids).unsqueeze(0), {}))[0];  // L×V
  // never the line end
  logits.select(1, ids.front()).fill_(-1e9);
  const torch::Tensor log_probs = logits.log_softmax(-1);
  EXPECT_TRUE(result.text);
  ASSERT_EQ(result.points.size(), 26U) << "6 … 31; the line end at 32 is a matter of the context's length";
  for (const LengthPoint& point : result.points) {
    const torch::Tensor here = log_probs[point.length - 1];
    const std::int64_t target = ids[static_cast<std::size_t>(point.length)];
    EXPECT_NEAR(point.nll.per_token(), -here[target].item<double>(), 1e-4);
    EXPECT_EQ(point.exact, here.argmax().item<std::int64_t>() == target ? point.pairs : 0);
    EXPECT_EQ(point.pairs, result.points.front().pairs);
  }
  EXPECT_EQ(result.points.front().length, 6);
}

TEST(Length, OfTextTheLikelihoodByThePlaceInAWindowTwiceAsLong) {
  ModelConfig config = small_config();
  config.architecture = "decoder-only";
  config.max_length = 16;
  Corpus corpus;
  for (int i = 0; i < 40; ++i) corpus.text.test += "a b c d e f g\n";
  const LengthResult inspection = measure_lengths(*still(config), letter_tokenizer(), corpus, {}, [](double) {});
  EXPECT_TRUE(inspection.text);
  EXPECT_EQ(inspection.trained, 16);
  ASSERT_EQ(inspection.points.size(), 16U);
  EXPECT_EQ(inspection.points.back().length, 32);
}

TEST(Length, MadePairsFollowTheirRule) {
  for (const Pair& pair : pairs_of_length("reverse", 20, 3, 1)) {
    EXPECT_EQ(pair.source.size(), 39U);
    EXPECT_EQ(std::string(pair.target.rbegin(), pair.target.rend()), pair.source);
  }
  const Pair sum = pairs_of_length("addition", 13, 1, 1).front();
  std::string digits = sum.source;
  std::erase(digits, ' ');
  const std::size_t plus = digits.find('+');
  std::string answer = sum.target;
  std::erase(answer, ' ');
  EXPECT_EQ(std::stoll(digits.substr(0, plus)) + std::stoll(digits.substr(plus + 1)), std::stoll(answer));
  EXPECT_EQ(std::count(sum.source.begin(), sum.source.end(), ' ') + 1, 13);
  EXPECT_TRUE(pairs_of_length("english-french", 20, 3, 1).empty());
  EXPECT_TRUE(pairs_of_length("addition", 2, 3, 1).empty());
}

}  // namespace
}  // namespace attnscope
