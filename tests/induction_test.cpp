// Induction scores, composition and circuits, against models whose weights are set by hand.
#include <gmock/gmock.h>

#include "engine/torch_engine.h"
#include "inspect/circuit/induction.h"
#include "inspect/probe/bounded_tokens.h"
#include "messages/metrics.h"
#include "run_fixture.h"
#include "training/batch_source.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

constexpr std::int64_t context = 32;

// A tokenizer of the words w0 … w39.
Tokenizer word_tokenizer() {
  std::vector<std::string> sentences;
  for (int word = 0; word < 40; ++word) sentences.push_back("w" + std::to_string(word));
  TokenizerConfig config;
  config.type = "word";
  return Tokenizer(Tokenizer::train(sentences, config));
}

// The residual stream has four parts: the token (V), the position (P), the token before (V), and the output (V).
struct HandBuilt {
  Tokenizer tokenizer = word_tokenizer();
  std::int64_t v = tokenizer.vocab_size(), p = context;
  ModelConfig config;
  Model model;

  HandBuilt() {
    config.architecture = "decoder-only";
    config.d_model = 3 * v + p;
    config.num_heads = 1;
    config.num_decoder_layers = 2;
    config.d_head = std::max(v, p);
    config.d_ff = 0;
    config.norm_kind = "none";
    config.biases = false;
    config.positions = "learned";
    config.scaled_embeddings = config.tied_embeddings = false;
    config.max_length = context;
    model = make_model(config, v);
    const torch::NoGradGuard no_grad;
    for (torch::Tensor& parameter : model->parameters()) parameter.zero_();
    at("embedding.weight").slice(1, 0, v).copy_(torch::eye(v));
    at("target_positions").slice(1, v, v + p).copy_(torch::eye(p));
    at("output_weight").slice(1, 2 * v + p).copy_(20 * torch::eye(v));
    // Layer 1 attends from position i to i − 1 and writes that token.
    query(0).slice(1, v, v + p).slice(0, 0, p - 1).slice(1, 1).copy_(strong * torch::eye(p - 1));
    key(0).slice(1, v, v + p).slice(0, 0, p).copy_(torch::eye(p));
    value(0).slice(1, 0, v).slice(0, 0, v).copy_(torch::eye(v));
    output(0).slice(0, v + p, 2 * v + p).slice(1, 0, v).copy_(torch::eye(v));
    // Layer 2 attends to where the token before is its own, and outputs the token there.
    query(1).slice(1, 0, v).slice(0, 0, v).copy_(strong * torch::eye(v));
    key(1).slice(1, v + p, 2 * v + p).slice(0, 0, v).copy_(torch::eye(v));
    value(1).slice(1, 0, v).slice(0, 0, v).copy_(torch::eye(v));
    output(1).slice(0, 2 * v + p).slice(1, 0, v).copy_(torch::eye(v));
    model->freeze();
  }

  static constexpr double strong = 1000;
  torch::Tensor at(const std::string& name) { return model->named_parameters()[name]; }
  torch::Tensor stacked(int layer, int part) {
    const std::int64_t d = config.d_head;
    return at("decoder.layers." + std::to_string(layer) + ".self_attn.in_proj_weight")
        .slice(0, part * d, (part + 1) * d);
  }
  torch::Tensor query(int layer) { return stacked(layer, 0); }
  torch::Tensor key(int layer) { return stacked(layer, 1); }
  torch::Tensor value(int layer) { return stacked(layer, 2); }
  torch::Tensor output(int layer) {
    return at("decoder.layers." + std::to_string(layer) + ".self_attn.out_proj.weight");
  }
  InductionPoint point() {
    InductionResult result;
    return induction_point(*model, tokenizer, 7, result, {});
  }
};

TEST(Induction, OfAModelBuiltByHandIsPerfect) {
  HandBuilt built;
  const InductionPoint point = built.point();
  EXPECT_EQ(point.step, 7);
  ASSERT_EQ(point.heads.size(), 2U);
  EXPECT_NEAR(point.heads[0].previous, 1, 1e-4);
  EXPECT_LT(point.heads[0].induction, 0.1);
  EXPECT_NEAR(point.heads[1].induction, 1, 1e-4);
  EXPECT_LT(point.heads[1].previous, 0.1);
  EXPECT_LT(point.heads[0].first, 0.1);
  EXPECT_GT(point.heads[0].first, 0.01) << "the second token's previous one is the first";
  EXPECT_EQ(point.accuracy, 1);
  EXPECT_LT(point.in_context, -1) << "late tokens are repeated, early ones cannot be known";
  EXPECT_NEAR(point.heads[1].copying, 1, 1e-6) << "its OV circuit is the identity";
}

InductionResult trials_of(HandBuilt& built) {
  InductionResult result;
  result.points.push_back(induction_point(*built.model, built.tokenizer, 7, result, {}));
  add_trials(*built.model, built.tokenizer, result);
  return result;
}

TEST(Induction, WithoutItsHeadsTheSkillIsLost) {
  HandBuilt built;
  const InductionResult result = trials_of(built);
  EXPECT_EQ(result.without_induction.heads_off, std::vector{(HeadPlace{AttentionPart::decoder, 1, 0})});
  EXPECT_EQ(result.without_induction.accuracy, 0) << "nothing else writes to the output";
  EXPECT_NEAR(result.without_induction.nll, std::log(built.v), 1e-4) << "all tokens are equally likely";
  EXPECT_EQ(result.without_others.heads_off, std::vector{(HeadPlace{AttentionPart::decoder, 0, 0})});
  EXPECT_LT(result.without_others.accuracy, 0.3) << "here the only other head is the previous-token head";
  EXPECT_EQ(result.first_masked.accuracy, 1) << "no head needs the first token";
}

TEST(Induction, OtherHeadsCanBeAblated) {
  HandBuilt built;
  const torch::NoGradGuard no_grad;
  built.output(0).zero_();
  const InductionResult result = trials_of(built);
  EXPECT_THAT(result.without_induction.heads_off, testing::IsEmpty()) << "no head has a high score";
}

TEST(Induction, NeedsTheHeadBefore) {
  HandBuilt built;
  const torch::NoGradGuard no_grad;
  built.output(0).zero_();
  const InductionPoint point = built.point();
  EXPECT_LT(point.heads[1].induction, 0.2);
  EXPECT_LT(point.accuracy, 0.3);
}

TEST(Induction, AHeadThatForbidsTheAttendedTokenHasNegativeEigenvalues) {
  HandBuilt built;
  const torch::NoGradGuard no_grad;
  built.output(1).neg_();
  EXPECT_NEAR(built.point().heads[1].copying, -1, 1e-6);
  EXPECT_EQ(token_circuits(*built.model, built.tokenizer, {AttentionPart::decoder, 1, 0}).positive, 0);
}

TEST(Induction, ComposesThroughTheKeys) {
  HandBuilt built;
  const Composition composed = composition(*built.model);
  // ‖W_K W_O‖ / (‖W_QK‖ ‖W_OV‖) of identities on V dimensions: √V / (√V √V).
  EXPECT_NEAR(composed.k.at(1, 0), 1 / std::sqrt(built.v), 1e-5);
  EXPECT_EQ(composed.q.at(1, 0), 0);
  EXPECT_EQ(composed.v.at(1, 0), 0);
  EXPECT_EQ(composed.k.at(0, 1), 0) << "the later head is the row";
}

TEST(Induction, TheCircuitsOfACopyingHeadAreDiagonal) {
  HandBuilt built;
  const TokenCircuits circuits = token_circuits(*built.model, built.tokenizer, {AttentionPart::decoder, 1, 0});
  ASSERT_EQ(circuits.tokens.size(), 40U);
  EXPECT_EQ(circuits.tokens.front(), "▁w0");
  EXPECT_GT(circuits.ov.at(3, 3), 15) << "20, less the mean over all tokens";
  EXPECT_LT(circuits.ov.at(3, 4), 0);
  EXPECT_EQ(circuits.qk.at(3, 3), 0) << "its keys come from the head before, not from the embedding";
}

TEST(Induction, IsMeasuredInDecoderOnlyModels) {
  EXPECT_THAT(induction_problem(ModelConfig()), HasSubstr("decoder-only"));
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  EXPECT_FALSE(engine.induction({}, *engine.watch(), [](double) {}).problem.empty());
}

Config repeats_config() {
  Config config = tiny_config("repeats");
  config.tokenizer.type = "word";
  config.model.architecture = "decoder-only";
  config.model.num_decoder_layers = 2;
  config.model.d_ff = 0;
  config.model.norm_kind = "none";
  config.model.positions = "learned";
  config.model.max_length = 16;
  return config;
}

TEST(Repeats, EveryBatchHasNewExamplesOnePerWindow) {
  TorchEngine engine;
  const Config config = repeats_config();
  engine.reset(config, {});
  const auto data = engine.dataset();
  BatchSource source(config, data);
  const Batch first = source.parts(0, 1, torch::kCPU).front();
  EXPECT_TRUE(first.target_in.equal(BatchSource(config, data).parts(0, 1, torch::kCPU).front().target_in));
  EXPECT_FALSE(first.target_in.equal(source.parts(1, 1, torch::kCPU).front().target_in));
  EXPECT_EQ(first.targets, 8 * 16) << "every position is scored";
  for (std::int64_t row = 0; row < 8; ++row) {
    EXPECT_EQ(first.target_in[row][0].item<int>(), Tokenizer::eos_id);
    EXPECT_EQ(first.target_out[row][-1].item<int>(), Tokenizer::eos_id);
    EXPECT_EQ((first.target_in[row] == Tokenizer::eos_id).sum().item<int>(), 1) << "a window is one example";
  }
  // In two parts the rows are the same.
  const std::vector<Batch> halves = source.parts(0, 2, torch::kCPU);
  EXPECT_TRUE(torch::cat({halves[0].target_in, halves[1].target_in}).equal(first.target_in));
}

TEST(Repeats, ValidationCountsOnlyTokensThatFollow) {
  TorchEngine engine;
  engine.reset(repeats_config(), {});
  for (int step = 0; step < 4; ++step) EXPECT_FALSE(engine.train_step({})[metric("validation_accuracy")]);
  const MetricPoint point = engine.train_step({});
  ASSERT_TRUE(point[metric("validation_accuracy")]);
  EXPECT_LT(*point[metric("validation_accuracy")], 0.3);
  EXPECT_FALSE(point[metric("accuracy")]) << "what is drawn is never seen again";
  const InductionResult result = engine.induction(
      {.over_training = true, .circuits_of = HeadPlace{AttentionPart::decoder, 1, 1}}, *engine.watch(), [](double) {});
  EXPECT_EQ(result.points.back().step, 5);
  EXPECT_EQ(result.points.back().heads.size(), 4U);
  ASSERT_TRUE(result.circuits);
  EXPECT_EQ(result.circuits->tokens.size(), 62U);
}

TEST(Repeats, APromptMayBeginWithALineEndAsExamplesDo) {
  TorchEngine engine;
  engine.reset(repeats_config(), {});
  bool truncated = false;
  const auto ids = [&](std::string_view text) {
    std::vector<int> found;
    for (const Token& token : prompt_tokens(engine.tokenizer(), text, 16, truncated)) found.push_back(token.id);
    return found;
  };
  std::vector<int> expected = ids("a b");
  ASSERT_EQ(expected.size(), 2U);
  expected.insert(expected.begin(), Tokenizer::eos_id);
  EXPECT_EQ(ids("⏎ a b"), expected);
  EXPECT_FALSE(truncated);
}

TEST(Repeats, NeedsOneTokenPerWord) {
  TorchEngine engine;
  Config config = repeats_config();
  config.tokenizer.type = "char";
  config.model.architecture = "encoder-decoder";
  EXPECT_THROW(engine.reset(config, {}), CorpusError) << "it has no pairs";
}

}  // namespace
}  // namespace attnscope
