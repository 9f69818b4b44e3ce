// One update after another: what the losses depend on, and what they do not.
#include <sched.h>

#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <torch/torch.h>
#include <cstdlib>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "config/schedule.h"
#include "engine/device.h"
#include "engine/torch_engine.h"
#include "inspect/evaluation/evaluation.h"
#include "losses.h"
#include "model/kernels/backend.h"
#include "model/kernels/precision.h"
#include "model/kernels/thread_pool.h"
#include "run_fixture.h"
#include "training/teacher_forcing.h"
#include "training/trainer.h"
#include "training/validation.h"

namespace attnscope {
namespace {

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
  for (int i = 0; i < 250; ++i) loss = trainer.step({})[metric("loss")].value();
  EXPECT_LT(loss, 0.02);
}

TEST(Training, AStepMayBeTakenWithinAForwardPassWithoutGradients) {
  const Config config = config_without_dropout();
  const auto loss_of_second = [&](bool within) {
    torch::manual_seed(1);
    Trainer trainer(make_model(config.model, 20), config, random_pairs(8));
    const torch::AutoGradMode gradients(!within);
    trainer.step({});
    EXPECT_EQ(torch::GradMode::is_enabled(), !within);
    return trainer.step({})[metric("loss")].value();
  };
  EXPECT_EQ(loss_of_second(true), loss_of_second(false));
}

// The loss of a first update, and its gradient as the first moments have it.
struct FirstUpdate {
  double loss = 0;
  std::vector<torch::Tensor> moments;
  int yields = 0;
};

FirstUpdate first_update(const Config& config, int num_threads) {
  kernels::set_pool_size(num_threads);
  torch::manual_seed(3);
  Trainer trainer(make_model(config.model, 20), config, random_pairs(8));
  kernels::set_pool_size(1);
  FirstUpdate made;
  made.loss = trainer.step([&] { ++made.yields; })[metric("loss")].value();
  for (const auto& [name, tensor] : trainer.optimizer().state()) {
    if (name.starts_with("exp_avg.")) made.moments.push_back(tensor.clone());
  }
  return made;
}

void expect_same(const FirstUpdate& a, const FirstUpdate& b) {
  EXPECT_NEAR(a.loss, b.loss, 1e-5);
  double largest = 0;
  for (std::size_t i = 0; i < a.moments.size(); ++i) {
    EXPECT_LE((a.moments[i] - b.moments[i]).abs().max().item<double>(), 1e-6);
    largest = std::max(largest, a.moments[i].abs().max().item<double>());
  }
  EXPECT_GT(largest, 1e-3) << "or nothing was compared";
}

TEST(Training, SmallBatchesAccumulatedAreOneLargeBatch) {
  const auto update = [](std::int64_t batch_size, std::int64_t accumulation_steps) {
    Config config = config_without_dropout();
    config.training.batch_size = batch_size;
    config.training.accumulation_steps = accumulation_steps;
    config.training.clip_norm = 0;
    return first_update(config, 1);
  };
  expect_same(update(8, 1), update(3, 3));
}

TEST(Training, RecomputedLayersMakeTheSameUpdate) {
  Config config = config_without_dropout();
  config.model.dropout = 0.3;
  const FirstUpdate kept = first_update(config, 2);
  config.training.recompute = true;
  expect_same(kept, first_update(config, 2));
}

TEST(Training, AnUpdateInBfloat16IsNearlyTheSame) {
  Config config = config_without_dropout();
  const double exact = first_update(config, 1).loss;
  config.training.precision = "bfloat16";
  const double rounded = first_update(config, 2).loss;
  EXPECT_NEAR(rounded, exact, 0.02 * exact);
  EXPECT_NE(rounded, exact);
}

// A window that asks in the middle of an update sees the model as it is.
TEST(Training, WhatIsLookedAtWithinAnUpdateIsNotRounded) {
  Config config = config_without_dropout();
  config.training.precision = "bfloat16";
  Trainer trainer(make_model(config.model, 20), config, random_pairs(8));
  int yields = 0;
  trainer.step([&] {
    ++yields;
    EXPECT_EQ(kernels::precision(), kernels::Precision::float32);
  });
  EXPECT_GT(yields, 3);
}

TEST(Training, PartsOfABatchOnSeveralThreadsAreTheWholeBatch) {
  const Config config = config_without_dropout();
  for (const int num_threads : {2, 3, 20}) expect_same(first_update(config, 1), first_update(config, num_threads));
}

TEST(Training, ThePartsOfATextsBatchAreTheWholeToo) {
  Config config = config_without_dropout();
  config.model.architecture = "decoder-only";
  config.model.max_length = 6;
  config.training.batch_size = 5;
  auto dataset = std::make_shared<Dataset>();
  for (int i = 0; i < 200; ++i) dataset->train_stream.push_back(4 + i * i % 16);
  const auto loss = [&](int num_threads) {
    kernels::set_pool_size(num_threads);
    torch::manual_seed(3);
    Trainer trainer(make_model(config.model, 20), config, dataset);
    kernels::set_pool_size(1);
    double last = 0;
    for (int i = 0; i < 3; ++i) last = trainer.step({})[metric("loss")].value();
    return last;
  };
  EXPECT_NEAR(loss(1), loss(2), 1e-5);
}

// A look that is waited for need not wait for the rest of an update, and a session that ends need not either.
// ---- teacher forcing

class TeacherForcing : public testing::TestWithParam<const char*> {
 protected:
  TeacherForcing() {
    config.model.architecture = GetParam();
    torch::manual_seed(4);
    model = make_model(config.model, 20);
    memory = model->encode(torch::randint(4, 20, {3, 6}, torch::kInt64), {});
    target_in = torch::randint(4, 20, {3, 7}, torch::kInt64);
    target_in[1].slice(0, 4) = 0;  // padding
  }

  torch::Tensor given(double teacher_forcing, std::int64_t seed = 1) {
    return scheduled_sampling_inputs(*model, target_in, memory, teacher_forcing, Random(seed));
  }

  Config config = config_without_dropout();
  Model model;
  Memory memory;
  torch::Tensor target_in;
};

TEST_P(TeacherForcing, RunningFreeItReadsWhatItWrites) {
  const torch::Tensor own = given(0);
  const torch::Tensor written = model->logits(model->decode(own, memory)).argmax(-1);
  const torch::Tensor is_padding = target_in == 0;
  EXPECT_TRUE(own.select(1, 0).equal(target_in.select(1, 0)));
  EXPECT_TRUE(own.slice(1, 1).equal(torch::where(is_padding, target_in, written.roll(1, 1)).slice(1, 1)));
  EXPECT_FALSE(own.equal(target_in));
  EXPECT_FALSE(own.requires_grad());
}

TEST_P(TeacherForcing, ToldEverythingItReadsTheTarget) {
  EXPECT_TRUE(given(1).is_same(target_in));
}

TEST_P(TeacherForcing, BetweenTheyTakeTurnsByChance) {
  int told = 0, mixed = 0;
  for (int seed = 0; seed < 40; ++seed) {
    const torch::Tensor same = (given(0.5, seed) == target_in).all(0).slice(0, 1);
    const auto count = same.sum().item<int>();
    told += count;
    mixed += count > 0 && count < 6;
    EXPECT_TRUE(given(0.5, seed).equal(given(0.5, seed)));
  }
  EXPECT_NEAR(told, 120, 30);
  EXPECT_GT(mixed, 30);
}

TEST_P(TeacherForcing, PartsOfABatchAreToldTheSamePositions) {
  config.training.teacher_forcing = 0.5;
  expect_same(first_update(config, 1), first_update(config, 3));
  const double half = first_update(config, 1).loss;
  config.training.teacher_forcing = 1;
  EXPECT_NE(half, first_update(config, 1).loss);
}

INSTANTIATE_TEST_SUITE_P(Architectures, TeacherForcing, testing::Values("encoder-decoder", "recurrent"),
                         [](const auto& each) { return std::string(each.param).substr(0, 7); });

TEST(Training, AnUpdateBreathesOftenAndCanBeEndedAtAnyBreath) {
  const Config config = config_without_dropout();
  const int yields = first_update(config, 2).yields;
  EXPECT_GT(yields, 30);
  torch::manual_seed(3);
  Trainer trainer(make_model(config.model, 20), config, random_pairs(8));
  for (int last = 1; last < yields; last += 7) {
    int left = last;
    const auto end_there = [&] {
      if (--left == 0) throw Cancelled();
    };
    EXPECT_THROW(trainer.step(end_there), Cancelled) << last;
  }
  EXPECT_EQ(trainer.steps_done(), 0);
  EXPECT_NEAR(trainer.step({})[metric("loss")].value(), first_update(config, 1).loss, 1e-6);
}

TEST(Training, LeavesPaddingOutUnlessTheDecoderIsGivenWhatItWrites) {
  const torch::Tensor source = torch::full({2, 4}, 5), target_in = torch::tensor({{1, 5, 6, 7}, {1, 5, 0, 0}});
  for (const double teacher_forcing : {1.0, 0.5}) {
    Config config = config_without_dropout();
    config.training.teacher_forcing = teacher_forcing;
    const Model model = make_model(config.model, 20);
    Trainer(model, config, random_pairs(8)).step({});
    const torch::Tensor features = model->decode(target_in, model->encode(source, {}));
    EXPECT_EQ(features.numel() / config.model.d_model, teacher_forcing < 1 ? 8 : 6);
  }
}

// Losses of updates that change nothing, each on the same pairs: a learning rate of 0 leaves only dropout to differ.
std::vector<double> losses_standing_still(double dropout, std::int64_t accumulation_steps, int steps) {
  Config config = config_without_dropout();
  config.model.dropout = dropout;
  config.training.noam_factor = 0;
  config.training.accumulation_steps = accumulation_steps;
  torch::manual_seed(3);
  Trainer trainer(make_model(config.model, 20), config, random_pairs(8));
  std::vector<double> values;
  for (int i = 0; i < steps; ++i) values.push_back(trainer.step({})[metric("loss")].value());
  return values;
}

TEST(Training, EveryBatchHasADropoutMaskOfItsOwn) {
  // The pairs of a batch come in another order each time, and so are summed.
  EXPECT_THAT(losses_standing_still(0, 1, 4),
              testing::Each(testing::DoubleNear(losses_standing_still(0, 1, 1)[0], 1e-6)));
  const auto losses = losses_standing_still(0.5, 1, 8);
  EXPECT_THAT(std::set<double>(losses.begin(), losses.end()), testing::SizeIs(losses.size()));
  const auto of_two = losses_standing_still(0.5, 2, 4);
  for (std::size_t i = 0; i < of_two.size(); ++i)
    EXPECT_NEAR(of_two[i], (losses[2 * i] + losses[2 * i + 1]) / 2, 1e-6) << "batches of one update";
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

// A file is often sorted: here by length, and every pair stands in it twice.
TEST(Training, ValidationIsSpreadOverAllPairs) {
  const Config config = config_without_dropout();
  torch::manual_seed(3);
  const Model model = make_model(config.model, 20);
  const auto dataset = random_pairs(16);
  EncodedPairs once;
  for (std::size_t i = 0; i < 32 * dataset->train.size(); ++i) once.push_back(dataset->train[i / 32]);
  for (std::size_t i = 0; i < 2 * once.size(); ++i) dataset->validation.push_back(once[i / 2]);
  model->freeze();
  EXPECT_NEAR(validate(*model, *dataset, 8, {}).per_token(), negative_log_likelihood(*model, once, 64, {}).per_token(),
              1e-6);
  EXPECT_NEAR(validate(*model, *dataset, 8, {}, nullptr, Part::train).per_token(),
              negative_log_likelihood(*model, dataset->train, 64, {}).per_token(), 1e-6);
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
  int inspections = 0;
  for (int i = 0; i < 6; ++i) {
    watched.push_back(b.train_step([&] {
                         b.probe({1, "a b c"}, [&](auto) { ++inspections; }, {});
                       })[metric("loss")]
                          .value());
  }
  EXPECT_EQ(losses(a, 6), watched);
  EXPECT_GE(inspections, 6 * 2 * 3);
}

TEST(Training, AnUpdateInTheMiddleOfALookIsAsAnyOther) {
  TorchEngine a, b;
  a.reset(tiny_config(), {});
  b.reset(tiny_config(), {});
  std::vector<double> trained = {b.train_step({})[metric("loss")].value()};
  Probe probe{.request = 1, .text = "a b c"};
  probe.decoding = true;
  b.probe(
      probe, [](auto) {}, [&] { trained.push_back(b.train_step({})[metric("loss")].value()); });
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
  const double rate = 5 * std::pow(16, -0.5) * 2 * std::pow(20, -1.5);
  EXPECT_DOUBLE_EQ(learning_rate_at(engine.config().training, 16, 2), rate);
  EXPECT_EQ(point[metric("learning_rate")].value(), static_cast<double>(static_cast<float>(rate)));
  EXPECT_EQ(engine.config().training.batch_size, 8);
}

TEST(Threads, AreThoseThatThisProcessMayUse) {
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  const char* const variable = std::getenv("OMP_NUM_THREADS");
  const std::string saved = variable ? variable : "";
  ::setenv("OMP_NUM_THREADS", "1000", 1);
  EXPECT_LE(usable_cores(), CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(usable_cores(), 1);
  ::sched_setaffinity(0, sizeof(before), &before);
  ::setenv("OMP_NUM_THREADS", "1", 1);
  EXPECT_EQ(usable_cores(), 1);
  variable ? ::setenv("OMP_NUM_THREADS", saved.c_str(), 1) : ::unsetenv("OMP_NUM_THREADS");
}

TEST(Training, ALossThatIsNotFiniteStopsBeforeTheUpdate) {
  const Config config = config_without_dropout();
  const Model model = make_model(config.model, 20);
  Trainer trainer(model, config, random_pairs(8));
  trainer.step({});
  {
    const torch::NoGradGuard no_grad;
    model->named_parameters()["encoder.norm.weight"].fill_(NAN);
  }
  const torch::Tensor before = model->named_parameters()["decoder.norm.weight"].clone();
  EXPECT_THROW(trainer.step({}), NotFinite);
  EXPECT_TRUE(torch::equal(before, model->named_parameters()["decoder.norm.weight"]));
  EXPECT_EQ(trainer.steps_done(), 1);
}

// How often each operator ran on this thread while one of these lives.
class OperatorCount {
 public:
  OperatorCount() {
    counts().clear();
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(count));
  }
  ~OperatorCount() { at::removeCallback(handle_); }
  OperatorCount(const OperatorCount&) = delete;
  OperatorCount& operator=(const OperatorCount&) = delete;

  int of(const std::string& name) const { return counts()[name]; }
  int all() const {
    int sum = 0;
    for (const auto& [name, count] : counts()) sum += count;
    return sum;
  }

 private:
  static std::map<std::string, int>& counts() {
    static std::map<std::string, int> by_name;
    return by_name;
  }
  static std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& function) {
    ++counts()[function.name()];
    return nullptr;
  }

  at::CallbackHandle handle_;
};

// A processor waits for a GPU when numbers are read back or sizes depend on values.
TEST(Training, AnUpdateAsAGpuComputesItReadsNothingBack) {
  const kernels::Composed as_on_a_gpu;
  for (const char* const architecture : {"encoder-decoder", "recurrent"}) {
    SCOPED_TRACE(architecture);
    Config config = config_without_dropout();
    config.model.architecture = architecture;
    config.model.dropout = 0.1;
    config.training.label_smoothing = 0.1;
    Trainer trainer(make_model(config.model, 20), config, random_pairs(8));
    trainer.step({});
    const OperatorCount operators;
    trainer.step({});
    EXPECT_GT(operators.all(), 200);
    for (const char* const name :
         {"aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::is_nonzero", "aten::equal"})
      EXPECT_EQ(operators.of(name), 0) << name;
  }
}

TEST(Training, UpdatesWhoseNumbersAreReadLateAreTheSame) {
  Config config = config_without_dropout();
  config.training.optimizer = "adamw";
  config.training.clip_norm = 0.5;  // some are clipped
  const auto trained = [&] {
    torch::manual_seed(1);
    Trainer trainer(make_model(config.model, 20), config, random_pairs(40));
    std::vector<double> numbers;
    for (int i = 0; i < 6; ++i) {
      const MetricPoint point = trainer.step({});
      EXPECT_EQ(point.step, i + 1);
      numbers.insert(numbers.end(), {point[metric("loss")].value(), point[metric("gradient_norm")].value(),
                                     point[metric("learning_rate")].value()});
    }
    EXPECT_EQ(trainer.optimizer().updates(), 6);
    return std::pair(numbers, trainer.optimizer().parameters().clone());
  };
  const auto [numbers, weights] = trained();
  const kernels::Composed as_on_a_gpu;
  const auto [async_readback, late_weights] = trained();
  EXPECT_THAT(async_readback, testing::Pointwise(testing::DoubleNear(1e-4), numbers));
  // For a gradient close to 0, rounding decides its sign, and with it Adam's step.
  EXPECT_LT((late_weights - weights).norm().item<double>(), 1e-3 * weights.norm().item<double>());
}

TEST(Training, WhatIsReadLateAndIsNotFiniteLeavesTheWeightsBeforeIt) {
  const kernels::Composed as_on_a_gpu;
  Config config = config_without_dropout();
  config.training.schedule = "constant";
  config.training.warmup_steps = 1;
  config.training.learning_rate = 1e30;  // finite weights, of which nothing finite can be computed
  Trainer trainer(make_model(config.model, 20), config, random_pairs(40));
  trainer.step({});
  const torch::Tensor before = trainer.optimizer().parameters().clone();
  const torch::Tensor moment = trainer.optimizer().state().front().second.clone();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(trainer.step({}), NotFinite);
    EXPECT_TRUE(torch::equal(trainer.optimizer().parameters(), before));
    EXPECT_TRUE(torch::equal(trainer.optimizer().state().front().second, moment));
    EXPECT_EQ(trainer.steps_done(), 1);
    EXPECT_EQ(trainer.optimizer().updates(), 1);
  }
}

// ---- a large corpus is prepared once

class StoredCorpus : public testing::Test {
 protected:
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("attnscope-stored-" + std::to_string(::getpid()));
  std::string before = std::getenv("XDG_CACHE_HOME") ? std::getenv("XDG_CACHE_HOME") : "";

  void SetUp() override {
    std::filesystem::create_directory(folder);
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    write("");
  }
  void TearDown() override {
    before.empty() ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", before.c_str(), 1);
    std::filesystem::remove_all(folder);
  }
  void write(const std::string& last) const {
    std::ofstream out(folder / "pairs.tsv");
    for (int i = 0; i < 30000; ++i)
      out << "word" << i % 700 << " and number " << i << "\tmot" << i % 600 << " " << i << "\n";
    out << "no tab\nword0 and number 0\tmot0 0\n" << last;
  }
  // The losses of some steps, and what was said; 7 progress reports or more if something was read or tokenized.
  std::vector<double> losses(int& reports, std::string& warnings) const {
    Config config;
    config.corpus.source = (folder / "pairs.tsv").string();
    config.tokenizer.vocab_size = 300;
    config.model = {.d_model = 16, .num_heads = 2, .num_encoder_layers = 1, .num_decoder_layers = 1, .d_ff = 32};
    config.model.max_length = 20;
    config.training.threads = 1;
    config.training.device = "cpu";
    TorchEngine engine;
    reports = 0;
    const RunOpened opened = engine.reset(config, [&](const Progress&) { ++reports; });
    warnings = opened.warnings.empty() ? "" : opened.warnings.front();
    std::vector<double> made;
    for (int i = 0; i < 3; ++i) made.push_back(*engine.train_step({})[metric("loss")]);
    return made;
  }
};

TEST_F(StoredCorpus, GivesTheSameBatchesAndMessages) {
  int first = 0, again = 0;
  std::string warnings, same;
  const std::vector<double> made = losses(first, warnings);
  EXPECT_EQ(losses(again, same), made);
  EXPECT_LT(again, first) << "nothing is read or tokenized again";
  EXPECT_THAT(warnings, testing::HasSubstr("pairs.tsv:30002: the same pair appears earlier"));
  EXPECT_EQ(same, warnings);
  std::filesystem::remove_all(folder / "attnscope");
  std::ofstream(folder / "attnscope") << "no folder: everything is in memory";
  EXPECT_EQ(losses(again, same), made);
}

TEST_F(StoredCorpus, IsReadAgainIfItChangedOrWasDamaged) {
  int first = 0, again = 0;
  std::string warnings;
  const std::vector<double> made = losses(first, warnings);
  for (const auto& file : std::filesystem::directory_iterator(folder / "attnscope"))
    std::fstream(file.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(100).put('!');
  EXPECT_EQ(losses(again, warnings), made);
  EXPECT_GE(again, first - 1);
  write("quite another\tpair\n");
  losses(again, warnings);
  EXPECT_GE(again, first - 1);
}

TEST(Reset, WithTheSameCorpusTakesLittleProcessorTime) {
  Config config;
  config.training.threads = 1;
  config.training.device = "cpu";
  TorchEngine engine;
  engine.reset(config, {});
  const std::clock_t begin = std::clock();
  engine.reset(config, {});
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 0.2);
  RecordProperty("milliseconds", static_cast<int>(1000 * seconds));
}

}  // namespace
}  // namespace attnscope
