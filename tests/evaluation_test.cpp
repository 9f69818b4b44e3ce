// How good a model is on pairs: what is counted, and what is left out.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "inspect/evaluation/evaluation.h"
#include "tokenizer_fixture.h"
#include "training/decoding/search.h"
#include "training/trainer.h"

namespace attnscope {
namespace {

TEST(Evaluation, PronounsAreWholeWords) {
  EXPECT_EQ(pronouns("L'animal dort parce qu'il est fatigué."), std::vector<std::string>{"il"});
  EXPECT_EQ(pronouns("Elle voit la ville, qu'elle aime; il file."), (std::vector<std::string>{"elle", "elle", "il"}));
  EXPECT_TRUE(pronouns("île villes fille").empty());
}

// ---- what fits: </s> closes a source, <s> opens a target

TEST(EncodePair, BothSidesHaveRoomForTheirMark) {
  const auto fits = [](std::size_t source, std::size_t target) {
    return encode_pair(tokenizer(), {std::string(source, 'a'), std::string(target, 'e')}, 8).has_value();
  };
  EXPECT_TRUE(fits(7, 7));
  EXPECT_FALSE(fits(8, 1));
  EXPECT_FALSE(fits(1, 8));
  EXPECT_TRUE(fits(0, 0));
}

TEST(EncodePair, TheSourceHasItsEndAndTheTargetNone) {
  const auto pair = encode_pair(tokenizer(), {"a", "e"}, 8);
  EXPECT_THAT(pair->source, testing::ElementsAre(tokenizer().encode("a")[0].id, Tokenizer::eos_id));
  EXPECT_THAT(pair->target, testing::ElementsAre(tokenizer().encode("e")[0].id));
}

// ---- a model before and after it has learned

const std::vector<Pair> lessons = {{"a dog ran", "the cat sat on the mat"},
                                   {"the dog", "on the mat the dog ran"},
                                   {"the end", "a cat sat on a dog"},
                                   {"the mat ran on and on and on", "too long"}};
constexpr std::int64_t longest = 26;  // pieces: of characters, one more than the first three need at most

class Learning : public testing::Test {
 protected:
  Learning() {
    config.model = {.d_model = 32, .num_heads = 4, .num_encoder_layers = 1, .num_decoder_layers = 1, .d_ff = 64};
    config.model.positions = "sinusoidal";
    config.model.dropout = 0;
    config.model.max_length = longest;
    config.training.label_smoothing = 0;
    config.training.warmup_steps = 50;
    torch::manual_seed(3);
    model = make_model(config.model, tokenizer().vocab_size());
  }

  Evaluation evaluated(std::int64_t beam) const {
    model->freeze();
    return evaluate_pairs(*model, tokenizer(), lessons, beam, {});
  }

  void learn() {
    auto dataset = std::make_shared<Dataset>();
    for (const Pair& pair : lessons) {
      if (auto encoded = encode_pair(tokenizer(), pair, longest)) dataset->train.push_back(*encoded);
    }
    Trainer trainer(model, config, dataset);
    for (int i = 0; i < 300; ++i) trainer.step({});
  }

  Config config;
  Model model;
};

TEST_F(Learning, AnUntrainedModelKnowsNothing) {
  const Evaluation found = evaluated(1);
  EXPECT_EQ(found.pairs, 3);
  EXPECT_EQ(found.too_long, 1);
  EXPECT_EQ(found.exact, 0);
  EXPECT_LT(found.bleu, 5);
  EXPECT_NEAR(found.nll.per_token(), std::log(tokenizer().vocab_size()), 1.5);
}

TEST_F(Learning, IsPerfectOnWhatItHasLearned) {
  learn();
  const Evaluation found = evaluated(1);
  EXPECT_EQ(found.pairs, 3);
  EXPECT_EQ(found.too_long, 1);
  EXPECT_EQ(found.exact, 3);
  EXPECT_NEAR(found.bleu, 100, 1e-9);
  EXPECT_LT(found.nll.per_token(), 0.05);
  EXPECT_EQ(found.nll.tokens, 22 + 22 + 18 + 3) << "each with its </s>";
  ASSERT_EQ(found.by_length.size(), 2U);
  EXPECT_EQ(found.by_length[0].words, 2);
  EXPECT_EQ(found.by_length[0].exact, 2);
  EXPECT_EQ(found.by_length[1].words, 4);
  EXPECT_EQ(found.by_length[1].exact, 1);
}

// A wider beam may end with three poor hypotheses before the good one has; what it finds is what the search finds
// alone.
TEST_F(Learning, ABeamIsScoredByItsBestHypothesis) {
  learn();
  const Evaluation found = evaluated(3);
  std::int64_t exact = 0;
  for (const Pair& pair : lessons) {
    const auto encoded = encode_pair(tokenizer(), pair, longest);
    if (!encoded) continue;
    const torch::Tensor source = torch::tensor(encoded->source, torch::kInt64).unsqueeze(0);
    exact += tokenizer().decode(beam_search(*model, source, {}, {.beam = 3})[0][0].ids) == pair.target;
  }
  EXPECT_EQ(found.exact, exact);
  EXPECT_EQ(found.nll.tokens, 22 + 22 + 18 + 3);
}

}  // namespace
}  // namespace attnscope
