// Masked language models: masked batches, fill mask, sentence pairs, and what else is computed of a masked position.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "checkpoint_copy.h"
#include "engine/torch_engine.h"
#include "inspect/attribution/attribution.h"
#include "inspect/circuit/contrast_runs.h"
#include "inspect/probe/inspect_model.h"
#include "inspect/probe/tensors.h"
#include "messages/metrics.h"
#include "model/activations.h"
#include "run_fixture.h"
#include "training/text_batches.h"
#include "training/validation.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

Snapshot filled(TorchEngine& engine, Probe probe) {
  Snapshot last;
  inspect_model(engine.model(), engine.tokenizer(), probe, [&](Snapshot snapshot) { last = std::move(snapshot); }, {});
  return last;
}

// ---- batches

ModelConfig masked_model() {
  ModelConfig model;
  model.architecture = "masked-lm";
  model.mask_id = 4;
  return model;
}

std::vector<int> numbered_stream(int tokens) {
  std::vector<int> stream;
  for (int i = 0; i < tokens; ++i) stream.push_back(5 + i % 90);
  return stream;
}

TEST(MaskedBatch, AsksForTheShareOfTokensAndOfThoseMasksFourInFive) {
  const std::vector<int> stream = numbered_stream(20000);
  const std::vector<std::int64_t> places = {0, 4000, 8000, 12000};
  const Batch batch = make_masked_batch(stream, places, 4000, torch::kCPU, masked_model(), 100, {.seed = 3});
  const torch::Tensor asked = batch.target_out.ne(0);
  EXPECT_EQ(asked.sum().item<std::int64_t>(), batch.targets);
  EXPECT_EQ(batch.targets, 4 * 600) << "15 % of each window";
  EXPECT_TRUE(batch.target_out.index({asked}).equal(batch.target_in.index({asked}))) << "the original tokens";
  EXPECT_TRUE(batch.source.index({~asked}).equal(batch.target_in.index({~asked}))) << "the others are unchanged";
  const double masked = batch.source.eq(4).sum().item<double>(), count = static_cast<double>(batch.targets);
  const double kept = batch.source.eq(batch.target_in).logical_and(asked).sum().item<double>();
  EXPECT_NEAR(masked / count, 0.8, 0.03);
  EXPECT_NEAR(kept / count, 0.1, 0.03);
  EXPECT_FALSE(batch.source_padding.defined());
}

TEST(MaskedBatch, IsTheSameAgainAndAnotherForAnotherBatch) {
  const std::vector<int> stream = numbered_stream(300);
  const std::vector<std::int64_t> places = {0, 100};
  const auto source = [&](std::int64_t batch) {
    return make_masked_batch(stream, places, 64, torch::kCPU, masked_model(), 100, {.seed = 1, .batch_number = batch})
        .source;
  };
  EXPECT_TRUE(source(1).equal(source(1)));
  EXPECT_FALSE(source(1).equal(source(2)));
}

TEST(MaskedBatch, NeverAsksForSpecialTokensOrPadding) {
  std::vector<int> stream(50, SpecialTokens().end);
  stream[20] = 9;
  const std::vector<std::int64_t> places = {0, 30};
  const Batch batch = make_masked_batch(stream, places, 40, torch::kCPU, masked_model(), 100, {});
  EXPECT_EQ(batch.targets, 1) << "the only ordinary token";
  EXPECT_EQ(batch.target_out[0][20].item<std::int64_t>(), 9);
  ASSERT_TRUE(batch.source_padding.defined());
  EXPECT_EQ(batch.source_padding[1].sum().item<std::int64_t>(), 20) << "the stream ends after 20 tokens";
}

TEST(MaskedBatch, WholeWordsAreAskedForTogether) {
  std::vector<bool> begins(100, false);
  for (std::size_t id = 5; id < 100; id += 5) begins[id] = true;  // words of five tokens: 5 6 7 8 9, 10 11 …
  const std::vector<int> stream = numbered_stream(900);
  const std::vector<std::int64_t> places = {0};
  const Batch batch =
      make_masked_batch(stream, places, 900, torch::kCPU, masked_model(), 100, {.begins_word = &begins});
  const torch::Tensor words = batch.target_out[0].ne(0).view({-1, 5}).sum(1);
  EXPECT_TRUE(words.eq(0).logical_or(words.eq(5)).all().item<bool>());
  EXPECT_GE(batch.targets, 135);
}

// ---- a checkpoint

class Encoder : public testing::Test, public CheckpointCopy {
 protected:
  Encoder() : CheckpointCopy("bert") { engine.open_run(folder.string(), {}); }
  TorchEngine engine;
};

TEST_F(Encoder, TakesItsSpecialTokensFromTheTokenizer) {
  const ModelConfig& model = engine.config().model;
  EXPECT_TRUE(model.fills_masks());
  EXPECT_EQ(engine.tokenizer().token(static_cast<int>(model.mask_id)), "[MASK]");
  EXPECT_EQ(engine.tokenizer().token(static_cast<int>(model.end_id)), "[SEP]");
  EXPECT_EQ(engine.tokenizer().token(static_cast<int>(model.start_id)), "[CLS]");
}

TEST_F(Encoder, MasksAClickedTokenAndPredictsIt) {
  const std::string text = "The street was too wide.";
  const Snapshot plain = filled(engine, {.text = text});
  ASSERT_TRUE(plain.is_whole());
  ASSERT_EQ(plain.decoding.size(), plain.source.size());
  EXPECT_TRUE(plain.cross.empty() && plain.decoder.empty());
  const Snapshot masked = filled(engine, {.text = text, .masked = {2}, .decoding = true});
  EXPECT_EQ(masked.source[2].text, "[MASK]");
  EXPECT_EQ(masked.decoding[2].reference->token, plain.source[2]) << "the original token";
  EXPECT_EQ(masked.decoding[2].candidates.front().token, masked.target_out[2]);
  // Pseudo-log-likelihood: the same number as from a pass with only that mask.
  ASSERT_EQ(masked.masked_log_probs.size(), masked.source.size());
  EXPECT_NEAR(masked.masked_log_probs[2], std::log(masked.decoding[2].reference->probability), 1e-3);
  EXPECT_EQ(masked.masked_log_probs.front(), 0) << "[CLS]";
  EXPECT_EQ(masked.masked_log_probs.back(), 0) << "[SEP]";
}

TEST_F(Encoder, TypedMasksAreFilledInTheOutput) {
  const Snapshot snapshot = filled(engine, {.text = "The [MASK] was [MASK]."});
  EXPECT_THAT(snapshot.output_text, testing::Not(HasSubstr("[MASK]")));
  EXPECT_THAT(snapshot.output_text, testing::StartsWith("The"));
}

TEST_F(Encoder, TellsTheSentencesOfAPairApart) {
  const std::string pair = engine.tokenizer().pair("Who wrote this?", "It was him.");
  const Snapshot both = filled(engine, {.text = pair});
  const int second = second_sentence(both);
  ASSERT_GT(second, 0);
  EXPECT_EQ(both.source[static_cast<std::size_t>(second) - 1].text, "[SEP]");
  EXPECT_EQ(second_sentence(filled(engine, {.text = "Who wrote this?"})), -1);
  // The same tokens without token types give other states.
  torch::NoGradGuard no_grad;
  torch::Tensor types = engine.model().named_parameters()["token_types"];
  types[1].copy_(types[0]);
  const Snapshot alike = filled(engine, {.text = pair});
  EXPECT_NE(alike.encoder.front().front().values, both.encoder.front().front().values);
}

TEST_F(Encoder, AttributesAMaskedPosition) {
  const AttributionResult result =
      inspect_attribution(engine.model(), engine.tokenizer(), {.text = "The [MASK] was too wide."}, [](double) {});
  ASSERT_EQ(result.problem, "");
  EXPECT_EQ(result.written.size(), 1U);
  EXPECT_THAT(result.parts_problem, HasSubstr("activation"));
  EXPECT_EQ(result.tokens[2], "[MASK]");
  EXPECT_NEAR(result.deletion[2], 0, 1e-5) << "masking the mask changes nothing";
  // Completeness of integrated gradients (Sundararajan et al. 2017, proposition 1).
  double sum = 0;
  for (const double part : result.integrated) sum += part;
  EXPECT_NEAR(sum, result.log_prob - result.baseline_log_prob, 0.05);
  EXPECT_THAT(result.heads.front().place.part, AttentionPart::encoder);
}

TEST_F(Encoder, ComparesTwoSentencesAtTheMask) {
  const ContrastQuestion question{
      .clean = "The animal was too [MASK].", .corrupted = "The street was too [MASK].", .between = {"was", "the"}};
  const ContrastRuns runs(engine.model(), engine.tokenizer(), question);
  EXPECT_EQ(runs.facts().a.text, "was");
  EXPECT_GT(std::abs(runs.facts().clean.margin - runs.facts().corrupted.margin), 0.01);
  // Patching the whole embedding gives the other sentence's margin.
  Change everything{.site = {ValueKind::state, AttentionPart::encoder, 0}, .positions = {}};
  for (int i = 0; i < runs.positions(AttentionPart::encoder); ++i) everything.positions.push_back(i);
  const ChangedRun run{ContrastSide::clean, {everything}};
  EXPECT_NEAR(runs.read(std::span(&run, 1)).front().margin, runs.facts().corrupted.margin, 1e-3);
  EXPECT_THROW(ContrastRuns(engine.model(), engine.tokenizer(),
                            ContrastQuestion{.clean = "The animal was tired.", .corrupted = "The street was tired."}),
               NotContrasting);
}

TEST(EncoderHead, ADiscriminatorSaysWhatWasReplacedAndPredictsNothing) {
  CheckpointCopy copy("electra");
  TorchEngine engine;
  engine.open_run(copy.folder.string(), {});
  const Snapshot snapshot = filled(engine, {.text = "The street was too wide."});
  EXPECT_TRUE(snapshot.is_whole());
  EXPECT_EQ(snapshot.replaced.size(), snapshot.source.size());
  EXPECT_TRUE(snapshot.decoding.empty());
}

TEST(EncoderHead, ABareModelHasOnlyItsAttention) {
  CheckpointCopy copy("bert");
  copy.set("architectures", {"BertModel"});
  TorchEngine engine;
  engine.open_run(copy.folder.string(), {});
  const Snapshot snapshot = filled(engine, {.text = "The street was too wide."});
  EXPECT_TRUE(snapshot.is_whole());
  EXPECT_FALSE(snapshot.encoder.empty());
  EXPECT_TRUE(snapshot.decoding.empty() && snapshot.replaced.empty());
  EXPECT_EQ(overflowing(engine.model()), "") << "commands check the activations of every model";
}

// ---- trained here

Config small_masked_config() {
  Config config = tiny_config();
  config.model.architecture = "masked-lm";
  config.model.positions = "learned";
  config.model.embedding_norm = true;
  config.model.final_norm = false;
  config.model.output_bias = true;
  config.model.max_length = 24;
  config.training.learning_rate = 0.003;
  config.training.schedule = "constant";
  config.training.warmup_steps = 5;
  config.training.validation_interval = 40;
  config.training.steps = 40;
  return config;
}

TEST(MaskedTraining, LearnsAndMeasuresTheMaskedTokens) {
  TorchEngine engine;
  engine.reset(small_masked_config(), {});
  EXPECT_EQ(engine.config().model.mask_id, 4);
  const double before = validate(engine.model(), *engine.dataset(), 8, {}).per_token();
  MetricPoint point;
  for (int i = 0; i < 40; ++i) point = engine.train_step({});
  ASSERT_TRUE(point[metric("masked_accuracy")]);
  EXPECT_GE(*point[metric("masked_accuracy")], 0);
  EXPECT_LT(*point[metric("validation_nll")], 0.9 * before);
  const Snapshot snapshot = filled(engine, {.text = "a b [MASK] c"});
  EXPECT_EQ(std::ranges::count(snapshot.source, 4, &Token::id), 1);
  EXPECT_THAT(snapshot.source, Each(testing::Field(&Token::unknown, false)));
}

}  // namespace
}  // namespace attnscope
