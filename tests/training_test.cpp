// Loss, optimizer, schedule, batches and the run on disk.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

#include "plain/metrics.h"
#include "session/torch_engine.h"
#include "storage/checkpoint.h"
#include "storage/file.h"
#include "storage/run_folder.h"
#include "storage/safetensors.h"
#include "training/adam.h"
#include "training/batches.h"
#include "training/evaluation.h"
#include "training/loss.h"
#include "training/schedule.h"
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

// Two copies of one small network, and a loss that gives both the same gradients.
struct Twins {
  torch::nn::Linear ours{5, 4}, theirs{5, 4};

  Twins() {
    torch::NoGradGuard no_grad;
    theirs->weight.copy_(ours->weight);
    theirs->bias.copy_(ours->bias);
  }

  void train(Adam& adam, torch::optim::Optimizer& reference, double learning_rate, double weight_decay) {
    for (int i = 0; i < 20; ++i) {
      const torch::Tensor x = torch::randn({3, 5});
      adam.zero_gradients();
      reference.zero_grad();
      ours(x).pow(2).sum().backward();
      theirs(x).pow(2).sum().backward();
      adam.update(learning_rate, weight_decay);
      reference.step();
    }
  }

  double difference() const {
    return std::max((ours->weight - theirs->weight).abs().max().item<double>(),
                    (ours->bias - theirs->bias).abs().max().item<double>());
  }
};

TEST(Adam, FollowsTorchsAdam) {
  for (const double beta2 : {0.98, 0.9}) {
    torch::manual_seed(2);
    Twins twins;
    Adam adam(*twins.ours, beta2);
    torch::optim::Adam reference(twins.theirs->parameters(),
                                 torch::optim::AdamOptions(0.01).betas({0.9, beta2}).eps(1e-9));
    twins.train(adam, reference, 0.01, 0);
    EXPECT_LE(twins.difference(), 1e-6);
  }
}

TEST(Adam, DecaysMatricesAloneAsTorchsAdamW) {
  torch::manual_seed(2);
  Twins twins;
  Adam adam(*twins.ours, 0.95);
  torch::optim::AdamW reference(
      {torch::optim::OptimizerParamGroup({twins.theirs->weight}),
       torch::optim::OptimizerParamGroup(
           {twins.theirs->bias}, std::make_unique<torch::optim::AdamWOptions>(
                                     torch::optim::AdamWOptions(0.01).betas({0.9, 0.95}).eps(1e-9).weight_decay(0)))},
      torch::optim::AdamWOptions(0.01).betas({0.9, 0.95}).eps(1e-9).weight_decay(0.5));
  twins.train(adam, reference, 0.01, 0.5);
  EXPECT_LE(twins.difference(), 1e-6);
}

TEST(Adam, ClippingScalesToTheNormAndReportsTheNormBefore) {
  torch::nn::Linear layer(1, 2);
  Adam adam(*layer, 0.98);
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

double noam(std::int64_t step, std::int64_t d_model, double factor) {
  TrainingConfig training;
  training.warmup_steps = 4000;
  training.noam_factor = factor;
  return learning_rate_at(training, d_model, step);
}

TEST(Schedule, NoamRisesToItsPeakAndFallsAsTheInverseRoot) {
  EXPECT_DOUBLE_EQ(noam(4000, 512, 1), std::pow(512.0, -0.5) * std::pow(4000.0, -0.5));
  EXPECT_DOUBLE_EQ(noam(1000, 512, 1), noam(4000, 512, 1) / 4);
  EXPECT_DOUBLE_EQ(noam(16000, 512, 1), noam(4000, 512, 1) / 2);
  EXPECT_DOUBLE_EQ(noam(10, 512, 3), 3 * noam(10, 512, 1));
}

TrainingConfig plain_schedule(const std::string& name) {
  TrainingConfig training;
  training.schedule = name;
  training.learning_rate = 0.8;
  training.min_learning_rate = 0.2;
  training.warmup_steps = 100;
  training.steps = 1100;
  return training;
}

TEST(Schedule, CosineFallsFromItsPeakToItsMinimumAndStaysThere) {
  TrainingConfig training = plain_schedule("cosine");
  const auto rate = [&](std::int64_t step) { return learning_rate_at(training, 64, step); };
  EXPECT_DOUBLE_EQ(rate(1), 0.008);
  EXPECT_DOUBLE_EQ(rate(50), 0.4);
  EXPECT_DOUBLE_EQ(rate(100), 0.8);
  EXPECT_NEAR(rate(350), 0.2 + 0.6 * (1 + std::sqrt(0.5)) / 2, 1e-12);
  EXPECT_NEAR(rate(600), 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(rate(1100), 0.2);
  EXPECT_DOUBLE_EQ(rate(5000), 0.2);
  training.steps = 60;  // all of it warm-up
  EXPECT_DOUBLE_EQ(rate(60), 0.48);
  EXPECT_DOUBLE_EQ(rate(101), 0.2);
}

TEST(Schedule, ConstantStaysAfterItsWarmUp) {
  const TrainingConfig training = plain_schedule("constant");
  EXPECT_DOUBLE_EQ(learning_rate_at(training, 64, 25), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate_at(training, 64, 100), 0.8);
  EXPECT_DOUBLE_EQ(learning_rate_at(training, 64, 100000), 0.8);
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
  EXPECT_EQ(batch.targets, 3 + 2);
  EXPECT_FALSE(make_batch(pairs, std::vector<std::int64_t>{0}, torch::kCPU).source_padding.defined());
}

// Every pair of the batches, in order; how often each occurs shows.
std::vector<std::int64_t> pairs_of(const IndexBatches& batches) {
  std::vector<std::int64_t> seen;
  for (const auto& batch : batches) seen.insert(seen.end(), batch.begin(), batch.end());
  std::sort(seen.begin(), seen.end());
  return seen;
}

std::vector<std::int64_t> numbers(std::int64_t count) {
  std::vector<std::int64_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(Batches, AnEpochHasEveryPairOnceInBatchesOfLikeLength) {
  const auto pairs = numbered_pairs(1000);
  const auto batches = epoch_batches(pairs, {.pairs = 16}, 3, 0);
  std::int64_t padding = 0;
  for (const auto& batch : batches) {
    EXPECT_LE(batch.size(), 16U);
    const torch::Tensor source = make_batch(pairs, batch, torch::kCPU).source;
    padding += source.eq(0).sum().item<std::int64_t>();
  }
  EXPECT_EQ(pairs_of(batches), numbers(1000));
  EXPECT_LT(padding, 500) << "unsorted it would be some 3000";
  EXPECT_EQ(batches, epoch_batches(pairs, {.pairs = 16}, 3, 0));
  EXPECT_NE(batches, epoch_batches(pairs, {.pairs = 16}, 3, 1));
  EXPECT_NE(batches, epoch_batches(pairs, {.pairs = 16}, 4, 0));
}

TEST(Batches, MeasuredInPiecesTheyAreFullAndNeverFuller) {
  const auto pairs = numbered_pairs(1000);
  const auto batches = epoch_batches(pairs, {.pieces = 100}, 3, 0);
  EXPECT_EQ(pairs_of(batches), numbers(1000));
  std::int64_t pieces = 0;
  for (const auto& indices : batches) {
    const Batch batch = make_batch(pairs, indices, torch::kCPU);
    const std::int64_t longest = std::max(batch.source.size(1), batch.target_in.size(1));
    EXPECT_LE(batch.source.size(0) * longest, 100);
    pieces += batch.source.size(0) * longest;
  }
  EXPECT_GT(pieces, 85 * static_cast<std::int64_t>(batches.size()));
}

TEST(Batches, APairLongerThanABatchGoesAlone) {
  auto pairs = numbered_pairs(20);
  pairs[7].source.assign(50, 9);
  pairs[11].target.assign(60, 9);
  const auto batches = epoch_batches(pairs, {.pieces = 20}, 1, 0);
  EXPECT_EQ(pairs_of(batches), numbers(20));
  EXPECT_THAT(batches, testing::Contains(std::vector<std::int64_t>{7}));
  EXPECT_THAT(batches, testing::Contains(std::vector<std::int64_t>{11}));
  EXPECT_EQ(epoch_batches(pairs, {.pieces = 1}, 1, 0).size(), 20U);
}

TEST(Batches, APlaceInTheSequenceIsFoundFromAnywhere) {
  const auto pairs = numbered_pairs(2000);  // several pools
  for (const BatchSize size : {BatchSize{.pairs = 16}, BatchSize{.pieces = 47}}) {
    IndexBatches expected;
    std::set<std::size_t> counts;
    for (std::int64_t epoch = 0; epoch < 8; ++epoch) {
      const IndexBatches batches = epoch_batches(pairs, size, 5, epoch);
      expected.insert(expected.end(), batches.begin(), batches.end());
      counts.insert(batches.size());
    }
    EXPECT_EQ(counts.size() > 1, size.pieces > 0) << "the epochs of the test should differ in their number of batches";
    BatchSequence walked(pairs, size, 5);
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(walked.at(i), expected[i]);
    EXPECT_EQ(BatchSequence(pairs, size, 5).at(expected.size() - 1), expected.back());
    EXPECT_EQ(walked.at(3), expected[3]);
  }
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

double loss_of(const MetricPoint& point) {
  return point[metric("loss")].value();
}

std::vector<double> losses(TorchEngine& engine, int steps) {
  std::vector<double> values;
  for (int i = 0; i < steps; ++i) values.push_back(loss_of(engine.train_step({})));
  return values;
}

// Pairs of different lengths that mean nothing.
std::shared_ptr<Dataset> random_pairs(int count) {
  auto dataset = std::make_shared<Dataset>();
  torch::manual_seed(5);
  for (int i = 0; i < count; ++i) {
    const torch::Tensor ids = torch::randint(4, 20, {11 + i}, torch::kInt32);
    const auto* id = ids.data_ptr<int>();
    dataset->train.push_back({{id, id + 6}, {id + 6, id + 11 + i}});
  }
  return dataset;
}

Config config_without_dropout() {
  Config config;
  config.model = {
      .d_model = 32, .num_heads = 4, .num_encoder_layers = 1, .num_decoder_layers = 1, .d_ff = 64, .dropout = 0};
  config.training.label_smoothing = 0;
  config.training.warmup_steps = 50;
  return config;
}

TEST(Training, OverfitsOneBatch) {
  const Config config = config_without_dropout();
  Trainer trainer(make_model(config.model, 20), config, random_pairs(8));
  double loss = 0;
  for (int i = 0; i < 250; ++i) loss = loss_of(trainer.step({}));
  EXPECT_LT(loss, 0.02);
}

TEST(Training, SmallBatchesAccumulatedAreOneLargeBatch) {
  const auto dataset = random_pairs(8);
  const auto step = [&](std::int64_t batch_size, std::int64_t accumulation_steps, Model& model) {
    Config config = config_without_dropout();
    config.training.batch_size = batch_size;
    config.training.accumulation_steps = accumulation_steps;
    config.training.clip_norm = 0;
    torch::manual_seed(3);
    model = make_model(config.model, 20);
    Trainer trainer(model, config, dataset);
    int breaths = 0;
    const double loss = loss_of(trainer.step([&] { ++breaths; }));
    EXPECT_GE(breaths, 2 * accumulation_steps);
    return loss;
  };
  Model whole, parts;
  EXPECT_NEAR(step(8, 1, whole), step(3, 3, parts), 1e-5);
  const auto expected = whole->parameters();
  const auto found = parts->parameters();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LE((expected[i].grad() - found[i].grad()).abs().max().item<double>(), 1e-5);
  }
}

TEST(Training, WeightDecayIsForAdamWAlone) {
  const auto weights_after = [](const std::string& optimizer, double weight_decay) {
    Config config = config_without_dropout();
    config.training.optimizer = optimizer;
    config.training.weight_decay = weight_decay;
    torch::manual_seed(3);
    const Model model = make_model(config.model, 20);
    Trainer(model, config, random_pairs(8)).step({});
    return model->named_parameters()["embedding.weight"].clone();
  };
  EXPECT_TRUE(torch::equal(weights_after("adam", 0.5), weights_after("adam", 0)));
  EXPECT_TRUE(torch::equal(weights_after("adamw", 0), weights_after("adam", 0)));
  EXPECT_FALSE(torch::equal(weights_after("adamw", 0.5), weights_after("adam", 0)));
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
    watched.push_back(loss_of(b.train_step([&] { b.probe({1, "a b c"}, [&](auto) { ++looks; }, {}); })));
  }
  EXPECT_EQ(losses(a, 6), watched);
  EXPECT_GE(looks, 6 * 2 * 3);
}

TEST(Training, AnUpdateInTheMiddleOfALookIsAsAnyOther) {
  TorchEngine a, b;
  a.reset(tiny_config(), {});
  b.reset(tiny_config(), {});
  std::vector<double> trained = {loss_of(b.train_step({}))};
  Probe probe{.request = 1, .text = "a b c"};
  probe.decoding = true;
  b.probe(
      probe, [](auto) {}, [&] { trained.push_back(loss_of(b.train_step({}))); });
  EXPECT_GE(trained.size(), 6U);
  EXPECT_EQ(losses(a, static_cast<int>(trained.size())), trained);
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
  EXPECT_DOUBLE_EQ(point[metric("learning_rate")].value(), learning_rate_at(engine.config().training, 16, 2));
  EXPECT_DOUBLE_EQ(point[metric("learning_rate")].value(), 5 * std::pow(16, -0.5) * 2 * std::pow(20, -1.5));
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

// Nine steps, a new process, eight more: the losses of seventeen.
void expect_exact_resume(const Config& config, const fs::path& folder) {
  TorchEngine uninterrupted;
  uninterrupted.reset(config, {});
  const auto expected = losses(uninterrupted, 17);

  TorchEngine first;
  first.reset(config, {});
  losses(first, 9);
  first.save_run(folder.string());

  TorchEngine second;
  const RunOpened opened = second.open_run(folder.string(), {});
  EXPECT_EQ(opened.step, 9);
  EXPECT_EQ(opened.history.size(), 9U);
  EXPECT_TRUE(opened.warnings.empty());
  EXPECT_EQ(losses(second, 8), std::vector(expected.begin() + 9, expected.end()));
}

TEST_F(RunOnDisk, ResumedLossesEqualUninterruptedOnes) {
  expect_exact_resume(tiny_config(), folder);
}

// A corpus of few pairs, so that the resumed run is some epochs on.
TEST_F(RunOnDisk, ResumesExactlyWithEveryOptionOfTraining) {
  fs::create_directories(folder);
  {
    std::ofstream out(folder / "pairs.tsv");
    for (int i = 0; i < 40; ++i) out << std::string(1 + i % 7, "abcde"[i % 5]) << i << "\tx" << i << '\n';
  }
  Config config = tiny_config((folder / "pairs.tsv").string());
  config.training.batch_tokens = 60;
  config.training.accumulation_steps = 3;
  config.training.optimizer = "adamw";
  config.training.schedule = "cosine";
  expect_exact_resume(config, folder / "run");
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
  save_weights(folder / "small.safetensors", *small, 3);
  const torch::Tensor before = large->parameters().front().clone();
  try {
    load_weights(folder / "small.safetensors", *large);
    FAIL();
  } catch (const SafetensorsError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("small.safetensors"), testing::HasSubstr("embedding.weight"),
                               testing::HasSubstr("[30, 16]"), testing::HasSubstr("[30, 32]")));
  }
  EXPECT_TRUE(torch::equal(before, large->parameters().front()));
  const Model other = make_model(ModelConfig{.d_model = 16, .num_heads = 2}, 30);
  EXPECT_EQ(load_weights(folder / "small.safetensors", *other), 3);
  EXPECT_TRUE(torch::equal(small->parameters().back(), other->parameters().back()));
}

// Verse enough for a language model: lines of letters, one of them blank.
Config language_model_config(const fs::path& folder) {
  fs::create_directories(folder);
  const fs::path file = folder / "verses.txt";
  std::ofstream out(file);
  for (int i = 0; i < 60; ++i) out << "to be or not to be " << i % 7 << (i % 5 ? "\n" : "\n\n");
  Config config = tiny_config(file.string());
  config.tokenizer.type = "char";
  config.model.architecture = "decoder-only";
  config.model.max_length = 16;
  return config;
}

TEST_F(RunOnDisk, ALanguageModelResumesExactly) {
  Config config = language_model_config(folder);
  config.training.accumulation_steps = 2;
  expect_exact_resume(config, folder / "run");
}

TEST_F(RunOnDisk, ALanguageModelLearnsTextAndTellsCharactersAndPrompts) {
  Config config = language_model_config(folder);
  config.training.validation_interval = 100;
  TorchEngine engine;
  const RunOpened opened = engine.reset(config, {});
  const auto characters = static_cast<std::int64_t>(fs::file_size(config.corpus.source));
  EXPECT_EQ(opened.train_pairs + opened.validation_pairs, characters);
  EXPECT_EQ(opened.train_pairs, characters * 9 / 10);
  ASSERT_FALSE(opened.examples.empty());
  EXPECT_EQ(opened.examples.front().source.substr(0, 5), "to be");
  EXPECT_LT(opened.examples.back().source.size(), 15U) << "a beginning, not the line";
  losses(engine, 99);
  const MetricPoint point = engine.train_step({});
  ASSERT_TRUE(point[metric("validation_nll")]);
  EXPECT_LT(*point[metric("validation_nll")], 1.5) << "nothing learned would be ln 20 = 3";
  std::shared_ptr<const Snapshot> last;
  engine.probe({1, "to be"}, [&](auto snapshot) { last = snapshot; }, {});
  EXPECT_FALSE(last->output_text.empty());
}

TEST_F(RunOnDisk, ATextIsNotReadAsPairsWhenTheArchitectureChanges) {
  Config config = tiny_config();
  TorchEngine engine;
  const std::int64_t pairs = engine.reset(config, {}).train_pairs;
  config.model.architecture = "decoder-only";
  EXPECT_GT(engine.reset(config, {}).train_pairs, 10 * pairs) << "characters";
  engine.train_step({});
  config.model.architecture = "encoder-decoder";
  EXPECT_EQ(engine.reset(config, {}).train_pairs, pairs);
  engine.train_step({});
}

// ---- kept checkpoints

std::map<std::string, torch::Tensor> weights(TorchEngine& engine) {
  std::map<std::string, torch::Tensor> copies;
  for (const auto& item : engine.model().named_parameters()) copies[item.key()] = item.value().detach().clone();
  return copies;
}

Config keeping(std::int64_t count) {
  Config config = tiny_config();
  config.training.checkpoint_interval = 2;
  config.training.kept_checkpoints = count;
  return config;
}

TEST_F(RunOnDisk, TheMeanOfKeptCheckpointsIsTheirMean) {
  TorchEngine engine;
  engine.reset(keeping(3), {});
  engine.save_run(folder.string());
  EXPECT_THAT(kept_steps({folder}), testing::IsEmpty()) << "weights that have learned nothing";
  losses(engine, 6);
  const auto at_6 = weights(engine);
  losses(engine, 2);
  const auto at_8 = weights(engine);
  losses(engine, 1);
  engine.save_run(folder.string());
  const auto at_9 = weights(engine);
  EXPECT_THAT(kept_steps({folder}), testing::ElementsAre(6, 8, 9));

  TorchEngine again;
  again.open_run(folder.string(), {});
  again.average(3);
  for (const auto& [name, mean] : weights(again)) {
    const torch::Tensor expected = (at_6.at(name) + at_8.at(name) + at_9.at(name)) / 3;
    EXPECT_LE((mean - expected).abs().max().item<double>(), 1e-6) << name;
  }
  again.average(1);
  for (const auto& [name, last] : weights(again)) EXPECT_TRUE(torch::equal(last, at_9.at(name))) << name;
}

TEST_F(RunOnDisk, TooFewOrBrokenCheckpointsAreNamedAndChangeNothing) {
  TorchEngine engine;
  engine.reset(keeping(3), {});
  engine.save_run(folder.string());
  losses(engine, 4);
  engine.save_run(folder.string());
  TorchEngine again;
  again.open_run(folder.string(), {});
  const auto before = weights(again);
  const auto message = [&](std::int64_t count) -> std::string {
    try {
      again.average(count);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(3), testing::AllOf(testing::HasSubstr((folder / "checkpoints").string()),
                                         testing::HasSubstr("of 2 checkpoints"), testing::HasSubstr("of 3 was")));
  fs::resize_file(RunFolder{folder}.kept_weights(2), 100);
  EXPECT_THAT(message(2), testing::HasSubstr("00000002.safetensors"));
  for (const auto& [name, weight] : weights(again)) EXPECT_TRUE(torch::equal(weight, before.at(name))) << name;
}

TEST_F(RunOnDisk, KeptCheckpointsOfAnotherFutureOrAnotherRunAreRemoved) {
  TorchEngine engine;
  engine.reset(keeping(10), {});
  engine.save_run(folder.string());
  losses(engine, 4);
  fs::copy(RunFolder{folder}.kept_weights(4), RunFolder{folder}.kept_weights(6));
  TorchEngine resumed;
  resumed.open_run(folder.string(), {});
  EXPECT_EQ(resumed.steps_done(), 4);
  EXPECT_THROW(resumed.average(3), RunError) << "the third is of a step that has not been";
  resumed.save_run(folder.string());
  EXPECT_THAT(kept_steps({folder}), testing::ElementsAre(2, 4));

  TorchEngine other;
  other.reset(keeping(10), {});
  losses(other, 3);
  other.save_run(folder.string());
  EXPECT_THAT(kept_steps({folder}), testing::ElementsAre(3));
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
