// Loss, optimizer, schedule, batches and the run on disk.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "session/torch_engine.h"
#include "storage/checkpoint.h"
#include "storage/file.h"
#include "storage/safetensors.h"
#include "training/adam.h"
#include "training/batches.h"
#include "training/evaluation.h"
#include "training/loss.h"
#include "training/trainer.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

// ---- loss, optimizer, schedule

TEST(Loss, ValueAndGradientAreTorchsCrossEntropy) {
  torch::manual_seed(1);
  const torch::Tensor targets = torch::tensor({3, 0, 5, 1, 0, 6}, torch::kInt64);
  for (const double smoothing : {0.0, 0.1, 0.5}) {
    torch::Tensor ours = (torch::randn({6, 7}) * 3).requires_grad_();
    torch::Tensor theirs = ours.detach().clone().requires_grad_();
    const torch::Tensor loss = smoothed_cross_entropy(ours, targets, smoothing, 0);
    const torch::Tensor expected = torch::nn::functional::cross_entropy(
        theirs, targets, torch::nn::functional::CrossEntropyFuncOptions().ignore_index(0).label_smoothing(smoothing));
    EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-5);
    (loss * 2).backward();
    (expected * 2).backward();
    EXPECT_LE((ours.grad() - theirs.grad()).abs().max().item<double>(), 1e-6);
  }
}

TEST(Loss, OfPaddingAloneIsZero) {
  torch::Tensor logits = torch::randn({2, 5}).requires_grad_();
  const torch::Tensor loss = smoothed_cross_entropy(logits, torch::zeros({2}, torch::kInt64), 0.1, 0);
  loss.backward();
  EXPECT_EQ(loss.item<double>(), 0);
  EXPECT_EQ(logits.grad().abs().max().item<double>(), 0);
}

TEST(Adam, FollowsTorchsAdam) {
  torch::manual_seed(2);
  torch::nn::Linear ours(5, 4), theirs(5, 4);
  {
    torch::NoGradGuard no_grad;
    theirs->weight.copy_(ours->weight);
    theirs->bias.copy_(ours->bias);
  }
  Adam adam(*ours);
  torch::optim::Adam reference(theirs->parameters(), torch::optim::AdamOptions(0.01).betas({0.9, 0.98}).eps(1e-9));
  for (int i = 0; i < 20; ++i) {
    const torch::Tensor x = torch::randn({3, 5});
    adam.zero_gradients();
    reference.zero_grad();
    ours(x).pow(2).sum().backward();
    theirs(x).pow(2).sum().backward();
    adam.update(0.01);
    reference.step();
  }
  EXPECT_LE((ours->weight - theirs->weight).abs().max().item<double>(), 1e-6);
  EXPECT_LE((ours->bias - theirs->bias).abs().max().item<double>(), 1e-6);
}

TEST(Adam, ClippingScalesToTheNormAndReportsTheNormBefore) {
  torch::nn::Linear layer(1, 2);
  Adam adam(*layer);
  const auto set = [&] {
    layer->weight.mutable_grad().fill_(3);
    layer->bias.mutable_grad().fill_(4);
  };
  set();
  EXPECT_NEAR(adam.clip(1), std::sqrt(50.0), 1e-5);
  EXPECT_NEAR(adam.clip(0), 1, 1e-5);
  set();
  adam.clip(100);
  EXPECT_EQ(layer->weight.grad()[0][0].item<float>(), 3);
}

TEST(Noam, RisesToItsPeakAndFallsAsTheInverseRoot) {
  EXPECT_DOUBLE_EQ(noam_learning_rate(4000, 512, 4000, 1), std::pow(512.0, -0.5) * std::pow(4000.0, -0.5));
  EXPECT_DOUBLE_EQ(noam_learning_rate(1000, 512, 4000, 1), noam_learning_rate(4000, 512, 4000, 1) / 4);
  EXPECT_DOUBLE_EQ(noam_learning_rate(16000, 512, 4000, 1), noam_learning_rate(4000, 512, 4000, 1) / 2);
  EXPECT_DOUBLE_EQ(noam_learning_rate(10, 512, 4000, 3), 3 * noam_learning_rate(10, 512, 4000, 1));
}

// ---- batches

std::vector<EncodedPair> numbered_pairs(int count) {
  std::vector<EncodedPair> pairs;
  for (int i = 0; i < count; ++i) {
    pairs.push_back({std::vector<int>(1 + i % 7, 4 + i % 9), std::vector<int>(i % 5, 5 + i % 11)});
    pairs.back().source.push_back(Tokenizer::eos_id);
  }
  return pairs;
}

TEST(Batches, TeacherForcingShiftsTheTargetAndMarksPadding) {
  const std::vector<EncodedPair> pairs = {{{5, 6, 2}, {7, 8}}, {{5, 2}, {9}}};
  const std::vector<std::int64_t> both = {0, 1};
  const Batch batch = make_batch(pairs, both, torch::kCPU);
  EXPECT_TRUE(torch::equal(batch.source, torch::tensor({{5, 6, 2}, {5, 2, 0}}, torch::kInt64)));
  EXPECT_TRUE(torch::equal(batch.target_in, torch::tensor({{1, 7, 8}, {1, 9, 0}}, torch::kInt64)));
  EXPECT_TRUE(torch::equal(batch.target_out, torch::tensor({{7, 8, 2}, {9, 2, 0}}, torch::kInt64)));
  EXPECT_TRUE(torch::equal(batch.source_padding, batch.source.eq(0)));
  EXPECT_EQ(batch.tokens, 3 + 3 + 2 + 2);
  EXPECT_FALSE(make_batch(pairs, std::vector<std::int64_t>{0}, torch::kCPU).source_padding.defined());
}

TEST(Batches, AnEpochHasEveryPairOnceInBatchesOfLikeLength) {
  const auto pairs = numbered_pairs(1000);
  const auto batches = epoch_batches(pairs, 16, 3, 0);
  std::multiset<std::int64_t> seen;
  std::int64_t padding = 0;
  for (const auto& batch : batches) {
    EXPECT_LE(batch.size(), 16U);
    seen.insert(batch.begin(), batch.end());
    const torch::Tensor source = make_batch(pairs, batch, torch::kCPU).source;
    padding += source.eq(0).sum().item<std::int64_t>();
  }
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 1000U);
  EXPECT_LT(padding, 500) << "unsorted it would be some 3000";
  EXPECT_EQ(batches, epoch_batches(pairs, 16, 3, 0));
  EXPECT_NE(batches, epoch_batches(pairs, 16, 3, 1));
  EXPECT_NE(batches, epoch_batches(pairs, 16, 4, 0));
}

// ---- training

Config tiny_config(const std::string& corpus = "copy") {
  Config config;
  config.corpus.source = corpus;
  config.tokenizer.vocab_size = 64;
  config.model = {.d_model = 16, .num_heads = 2, .num_encoder_layers = 1, .num_decoder_layers = 1, .d_ff = 32};
  config.training.batch_size = 8;
  config.training.warmup_steps = 20;
  config.training.validation_interval = 5;
  config.training.threads = 1;
  config.training.device = "cpu";
  return config;
}

std::vector<double> losses(TorchEngine& engine, int steps) {
  std::vector<double> values;
  for (int i = 0; i < steps; ++i) values.push_back(engine.train_step({}).loss);
  return values;
}

TEST(Training, OverfitsOneBatch) {
  auto dataset = std::make_shared<Dataset>();
  torch::manual_seed(5);
  for (int i = 0; i < 8; ++i) {
    const torch::Tensor ids = torch::randint(4, 20, {11}, torch::kInt32);
    const auto* id = ids.data_ptr<int>();
    dataset->train.push_back({{id, id + 6}, {id + 6, id + 11}});
  }
  Config config;
  config.model = {
      .d_model = 32, .num_heads = 4, .num_encoder_layers = 1, .num_decoder_layers = 1, .d_ff = 64, .dropout = 0};
  config.training.label_smoothing = 0;
  config.training.warmup_steps = 50;
  const Model model = make_model(config.model, 20);
  Trainer trainer(model, config, dataset);
  double loss = 0;
  for (int i = 0; i < 250; ++i) loss = trainer.step({}).loss;
  EXPECT_LT(loss, 0.02);
}

TEST(Training, TheSameSeedGivesTheSameLosses) {
  TorchEngine a, b, c;
  a.reset(tiny_config(), {});
  b.reset(tiny_config(), {});
  Config other = tiny_config();
  other.training.seed = 2;
  c.reset(other, {});
  const auto expected = losses(a, 12);
  EXPECT_EQ(expected, losses(b, 12));
  EXPECT_NE(expected, losses(c, 12));
}

TEST(Training, LookingInsideDoesNotChangeTheLosses) {
  TorchEngine a, b;
  a.reset(tiny_config(), {});
  b.reset(tiny_config(), {});
  std::vector<double> watched;
  int looks = 0;
  for (int i = 0; i < 6; ++i) {
    watched.push_back(b.train_step([&] { b.probe({1, "a b c"}, [&](auto) { ++looks; }, {}); }).loss);
  }
  EXPECT_EQ(losses(a, 6), watched);
  EXPECT_GE(looks, 6 * 2 * 3);
}

TEST(Training, LiveFieldsTakeEffectAndOthersDoNot) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  engine.train_step({});
  Config edited = tiny_config();
  edited.training.noam_factor = 5;
  edited.training.batch_size = 99;
  engine.adjust(edited);
  const MetricPoint point = engine.train_step({});
  EXPECT_DOUBLE_EQ(point.learning_rate, noam_learning_rate(2, 16, 20, 5));
  EXPECT_EQ(engine.config().training.batch_size, 8);
}

TEST(Training, ALossThatIsNotFiniteStopsBeforeTheUpdate) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  engine.train_step({});
  torch::Tensor weight = engine.model().named_parameters()["encoder.norm.weight"];
  {
    torch::NoGradGuard no_grad;
    weight.fill_(NAN);
  }
  const torch::Tensor before = engine.model().named_parameters()["decoder.norm.weight"].clone();
  EXPECT_THROW(engine.train_step({}), NotFinite);
  EXPECT_TRUE(torch::equal(before, engine.model().named_parameters()["decoder.norm.weight"]));
  EXPECT_EQ(engine.steps_done(), 1);
}

// ---- a run on disk

class RunOnDisk : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("attnscope-run-" + std::to_string(::getpid()));
  void SetUp() override { fs::remove_all(folder); }
  void TearDown() override { fs::remove_all(folder); }
};

TEST_F(RunOnDisk, ResumedLossesEqualUninterruptedOnes) {
  TorchEngine uninterrupted;
  uninterrupted.reset(tiny_config(), {});
  const auto expected = losses(uninterrupted, 17);

  TorchEngine first;
  first.reset(tiny_config(), {});
  losses(first, 9);
  first.save_run(folder.string());

  TorchEngine second;
  const RunOpened opened = second.open_run(folder.string(), {});
  EXPECT_EQ(opened.step, 9);
  EXPECT_EQ(opened.history.size(), 9U);
  EXPECT_TRUE(opened.warnings.empty());
  EXPECT_EQ(losses(second, 8), std::vector(expected.begin() + 9, expected.end()));
}

TEST_F(RunOnDisk, CheckpointsFollowAtTheirInterval) {
  Config config = tiny_config();
  config.training.checkpoint_interval = 4;
  TorchEngine engine;
  engine.reset(config, {});
  engine.save_run(folder.string());
  losses(engine, 6);
  TorchEngine again;
  EXPECT_EQ(again.open_run(folder.string(), {}).step, 4);
}

TEST_F(RunOnDisk, SavedAgainElsewhereItStillResumesExactly) {
  TorchEngine first;
  first.reset(tiny_config(), {});
  losses(first, 5);
  first.save_run(folder.string());
  const auto expected = losses(first, 3);

  TorchEngine second;
  second.open_run(folder.string(), {});
  const fs::path copy = folder / "copy";
  second.save_run(copy.string());
  TorchEngine third;
  third.open_run(copy.string(), {});
  EXPECT_EQ(losses(third, 3), expected);
}

TEST_F(RunOnDisk, AFailedOpenLeavesThePresentRun) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  const auto weights = engine.model().parameters().front().clone();
  EXPECT_THROW(engine.open_run("/nowhere/at/all", {}), std::runtime_error);
  engine.save_run(folder.string());
  fs::resize_file(folder / "model.safetensors", 100);
  EXPECT_THROW(engine.open_run(folder.string(), {}), SafetensorsError);
  EXPECT_TRUE(torch::equal(weights, engine.model().parameters().front()));
  engine.train_step({});
  EXPECT_EQ(engine.steps_done(), 1);
}

TEST_F(RunOnDisk, WeightsOfAnotherModelAreRefusedByName) {
  fs::create_directories(folder);
  const Model small = make_model(ModelConfig{.d_model = 16, .num_heads = 2}, 30);
  const Model large = make_model(ModelConfig{.d_model = 32, .num_heads = 2}, 30);
  save_weights(folder / "small.safetensors", small, 3);
  const torch::Tensor before = large->parameters().front().clone();
  try {
    load_weights(folder / "small.safetensors", large);
    FAIL();
  } catch (const SafetensorsError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("small.safetensors"), testing::HasSubstr("embedding.weight"),
                               testing::HasSubstr("[30, 16]"), testing::HasSubstr("[30, 32]")));
  }
  EXPECT_TRUE(torch::equal(before, large->parameters().front()));
  const Model other = make_model(ModelConfig{.d_model = 16, .num_heads = 2}, 30);
  EXPECT_EQ(load_weights(folder / "small.safetensors", other), 3);
  EXPECT_TRUE(torch::equal(small->parameters().back(), other->parameters().back()));
}

TEST_F(RunOnDisk, OpensWithoutItsCorpusAndSaysSo) {
  fs::create_directories(folder);
  const fs::path file = folder / "pairs.tsv";
  {
    std::ofstream out(file);
    for (char c = 'a'; c <= 'z'; ++c) out << c << " x\t" << c << " y\n";
  }
  TorchEngine engine;
  engine.reset(tiny_config(file.string()), {});
  engine.save_run((folder / "run").string());
  fs::remove(file);
  TorchEngine again;
  const RunOpened opened = again.open_run((folder / "run").string(), {});
  ASSERT_EQ(opened.warnings.size(), 1U);
  EXPECT_THAT(opened.warnings[0], testing::HasSubstr("pairs.tsv"));
  EXPECT_THROW(again.train_step({}), CorpusError);
  int looks = 0;
  again.probe({1, "a x"}, [&](auto) { ++looks; }, {});
  EXPECT_EQ(looks, 2);
}

// ---- evaluation and looking inside

TEST(Evaluation, PronounsAreWholeWords) {
  EXPECT_EQ(pronouns("L'animal dort parce qu'il est fatigué."), std::vector<std::string>{"il"});
  EXPECT_EQ(pronouns("Elle voit la ville, qu'elle aime; il file."), (std::vector<std::string>{"elle", "elle", "il"}));
  EXPECT_TRUE(pronouns("île villes fille").empty());
}

TEST(Evaluation, PerfectOnWhatItHasLearned) {
  TorchEngine engine;
  Config config = tiny_config();
  config.model.d_model = 32;
  engine.reset(config, {});
  const Evaluation untrained =
      evaluate_pairs(engine.model(), engine.tokenizer(), std::span(engine.corpus()->test).first(20), 1, {});
  EXPECT_EQ(untrained.pairs, 20);
  EXPECT_LT(untrained.exact, 3);
  EXPECT_NEAR(untrained.nll.per_token(), std::log(engine.tokenizer().vocab_size()), 1.5);
}

TEST(Probe, TheSnapshotIsWhatTheModelComputes) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  std::vector<std::shared_ptr<const Snapshot>> published;
  engine.probe({42, "c a b"}, [&](auto snapshot) { published.push_back(snapshot); }, {});
  ASSERT_EQ(published.size(), 2U);
  EXPECT_FALSE(published[0]->encoder.empty());
  EXPECT_TRUE(published[0]->cross.empty());
  const Snapshot& whole = *published[1];
  EXPECT_EQ(whole.request, 42U);
  const auto target_length = whole.target_in.size();
  ASSERT_EQ(whole.target_out.size(), target_length);
  ASSERT_EQ(whole.decoding.size(), target_length);
  EXPECT_EQ(whole.source.back().id, Tokenizer::eos_id);
  EXPECT_EQ(whole.target_in.front().id, Tokenizer::bos_id);
  for (std::size_t t = 0; t < target_length; ++t) {
    const DecodingStep& step = whole.decoding[t];
    EXPECT_EQ(step.candidates[step.chosen].token, whole.target_out[t]);
    EXPECT_TRUE(std::is_sorted(step.candidates.begin(), step.candidates.end(),
                               [](const auto& a, const auto& b) { return a.probability > b.probability; }));
    if (t > 0) {
      EXPECT_EQ(whole.target_in[t], whole.target_out[t - 1]);
    }
  }
  const Matrix& cross = whole.cross[0][1];
  EXPECT_EQ(cross.rows, static_cast<int>(target_length));
  EXPECT_EQ(cross.cols, static_cast<int>(whole.source.size()));
  for (int row = 0; row < cross.rows; ++row) {
    float sum = 0;
    for (int col = 0; col < cross.cols; ++col) sum += cross.at(row, col);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(Probe, SurvivesAnythingTyped) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  for (const std::string& text : {std::string(), std::string("   "), std::string(5000, 'a'),
                                  std::string("\xff\xfe\0x", 4), std::string("日本 🙂 ￼")}) {
    std::shared_ptr<const Snapshot> last;
    engine.probe({1, text}, [&](auto snapshot) { last = snapshot; }, {});
    ASSERT_TRUE(last);
    EXPECT_LE(last->source.size(), 128U);
    EXPECT_FALSE(last->decoding.empty());
  }
}

}  // namespace
}  // namespace attnscope
