// Processes that train one run together: where they stand, what they sum, and that together they learn what one would.
// Here they are threads of one process, each with its own end of the lines.
#include <gmock/gmock.h>
#include <torch/torch.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <latch>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "messages/metrics.h"
#include "model_fixture.h"
#include "training/distributed/place.h"
#include "training/distributed/ranks.h"
#include "training/trainer.h"
#include "training/validation.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// ---- where a process stands

class RankEnvironment : public testing::Test {
 protected:
  ~RankEnvironment() override {
    for (const std::string& name : set_) ::unsetenv(name.c_str());
  }

  void set(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }
  void set_all() {
    set("RANK", "1");
    set("WORLD_SIZE", "3");
    set("MASTER_ADDR", "10.0.0.1");
    set("MASTER_PORT", "29500");
  }

  static std::string complaint() {
    try {
      place_from_environment();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "none";
  }

 private:
  std::vector<std::string> set_;
};

TEST_F(RankEnvironment, SaysWhereAProcessStands) {
  set_all();
  const RankPlace place = place_from_environment().value();
  EXPECT_EQ(place.rank, 1);
  EXPECT_EQ(place.size, 3);
  EXPECT_EQ(place.here, 1) << "nothing says that others share this machine";
  EXPECT_EQ(place.host, "10.0.0.1");
  EXPECT_EQ(place.port, 29500);
  set("LOCAL_WORLD_SIZE", "2");
  EXPECT_EQ(place_from_environment()->here, 2);
}

TEST_F(RankEnvironment, ThatSaysNothingLeavesItAlone) {
  EXPECT_FALSE(place_from_environment());
  set("MASTER_PORT", "29500");  // some machines have it set for everybody
  EXPECT_FALSE(place_from_environment());
}

TEST_F(RankEnvironment, HalfSetIsNamed) {
  set("RANK", "0");
  EXPECT_THAT(complaint(), AllOf(HasSubstr("RANK is set"), HasSubstr("WORLD_SIZE is not")));
  set("WORLD_SIZE", "2");
  EXPECT_THAT(complaint(), HasSubstr("MASTER_ADDR is not"));
  set("MASTER_ADDR", "localhost");
  EXPECT_THAT(complaint(), HasSubstr("MASTER_PORT is not"));
  set("MASTER_PORT", "29500");
  EXPECT_EQ(complaint(), "none");
  ::unsetenv("RANK");
  EXPECT_THAT(complaint(), AllOf(HasSubstr("WORLD_SIZE is set"), HasSubstr("RANK is not")));
}

TEST_F(RankEnvironment, WithNumbersThatDoNotGoTogetherIsRefused) {
  set_all();
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"RANK", "3"},
                                                                                    {"RANK", "-1"},
                                                                                    {"RANK", "one"},
                                                                                    {"RANK", "1 "},
                                                                                    {"RANK", "99999999999999"},
                                                                                    {"WORLD_SIZE", "0"},
                                                                                    {"WORLD_SIZE", "2x"},
                                                                                    {"LOCAL_WORLD_SIZE", "4"},
                                                                                    {"MASTER_PORT", "0"},
                                                                                    {"MASTER_PORT", "70000"}}) {
    set_all();
    ::unsetenv("LOCAL_WORLD_SIZE");
    set(name, value);
    EXPECT_THAT(complaint(), HasSubstr(name + "=" + value + " in the environment: expected a number from"));
  }
}

// ---- what they sum

class RanksTogether : public testing::Test {
 protected:
  std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("attnscope-ranks-test-" + std::to_string(::getpid()));

  void SetUp() override {
    try {
      check_ranks_supported();
    } catch (const RanksError& error) {
      GTEST_SKIP() << error.what();
    }
    std::ofstream(file).flush();
  }
  void TearDown() override { std::filesystem::remove(file); }

  std::shared_ptr<Ranks> joined(int rank, int size, std::chrono::milliseconds longest_wait = 10s) const {
    return std::make_shared<Ranks>(RankPlace{.rank = rank, .size = size, .file = file.string()}, YieldCallback(),
                                   longest_wait);
  }

  // Calls work(ranks) on as many threads as there are ranks.
  void run(int size, const std::function<void(const std::shared_ptr<Ranks>&)>& work,
           std::chrono::milliseconds longest_wait = 10s) {
    std::vector<std::thread> threads;
    std::latch met(size);  // one that has met and goes would be missed by one that is still meeting
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        const auto ranks = joined(rank, size, longest_wait);
        ranks->meet();
        met.arrive_and_wait();
        work(ranks);
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::filesystem::remove(file);
    std::ofstream(file).flush();
  }
};

TEST_F(RanksTogether, AllHaveTheSameSum) {
  for (const int size : {1, 2, 3, 5}) {
    std::vector<std::vector<float>> floats(size);
    std::vector<double> doubles(size);
    run(size, [&](const std::shared_ptr<Ranks>& ranks) {
      std::vector<float>& mine = floats[ranks->rank()];
      for (int i = 0; i < 1001; ++i) mine.push_back(std::sin(static_cast<float>(1000 * ranks->rank() + i)));
      ranks->sum(std::span(mine));
      std::array<double, 1> number{std::ldexp(1.0, ranks->rank()) + 1e-12};
      ranks->sum(number);
      doubles[ranks->rank()] = number[0];
    });
    for (int i = 0; i < 1001; ++i) {
      double expected = 0;
      for (int rank = 0; rank < size; ++rank) expected += std::sin(static_cast<float>(1000 * rank + i));
      EXPECT_NEAR(floats[0][i], expected, 1e-6);
    }
    for (int rank = 0; rank < size; ++rank) {
      EXPECT_EQ(floats[rank], floats[0]) << "bit by bit";
      EXPECT_DOUBLE_EQ(doubles[rank], std::ldexp(1.0, size) - 1 + size * 1e-12);
    }
  }
}

TEST_F(RanksTogether, EndAfterTheSameSum) {
  using Ending = Ranks::Ending;
  for (const Ending why : {Ending::enough, Ending::interrupted}) {
    std::vector<int> sums(3);
    std::vector<Ending> agreed(3);
    run(3, [&](const std::shared_ptr<Ranks>& ranks) {
      std::array<double, 1> number{};
      int& made = sums[ranks->rank()];
      for (; made < 100 && ranks->agreed() == Ending::none; ++made) {
        if (made == 4 && ranks->rank() == 2) ranks->ask_to_end(why);
        if (made == 4 && ranks->rank() == 1) ranks->ask_to_end(Ending::enough);
        number[0] = 1;
        ranks->sum(number);
        EXPECT_EQ(number[0], 3);
      }
      agreed[ranks->rank()] = ranks->agreed();
      EXPECT_EQ(ranks->loss(), "");
    });
    EXPECT_THAT(sums, ElementsAre(5, 5, 5));
    EXPECT_THAT(agreed, ElementsAre(why, why, why));
  }
}

TEST_F(RanksTogether, ComeWhenTheFirstIsThere) {
  std::atomic<bool> prepared = false;
  std::latch met(2);  // as in run()
  const std::jthread second([&] {
    const auto ranks = joined(1, 2);
    ranks->await_first();
    EXPECT_TRUE(prepared);
    ranks->meet();
    met.arrive_and_wait();
  });
  const auto ranks = joined(0, 2);
  std::this_thread::sleep_for(200ms);
  prepared = true;
  ranks->meet();
  met.arrive_and_wait();
}

TEST_F(RanksTogether, WaitingCanBeGivenUp) {
  Ranks alone({.rank = 1, .size = 2, .file = file.string()}, [] { throw Cancelled(); });
  EXPECT_THROW(alone.await_first(), Cancelled);
  EXPECT_THROW(alone.meet(), Cancelled);
}

// The threads of this process that would take the signal.
std::set<std::string> takers_of(int signal) {
  std::set<std::string> takers;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("SigBlk:")) continue;
      const std::uint64_t blocked = std::stoull(line.substr(line.find('\t')), nullptr, 16);
      if ((blocked >> (signal - 1) & 1U) == 0) takers.insert(thread.path().filename());
    }
  }
  return takers;
}

TEST_F(RanksTogether, WriteInThreadsThatTakeNoBrokenPipe) {
  const auto ranks = joined(0, 1);
  const std::set<std::string> before = takers_of(SIGPIPE);
  EXPECT_FALSE(before.empty());
  ranks->meet();
  EXPECT_EQ(takers_of(SIGPIPE), before) << "the threads that write to the others";
}

TEST_F(RanksTogether, NameTheOneThatIsGone) {
  std::vector<std::string> said(3);
  run(
      3,
      [&](const std::shared_ptr<Ranks>& ranks) {
        if (ranks->rank() == 1) return;  // its lines are closed
        std::array<double, 1> number{1};
        try {
          ranks->sum(number);
        } catch (const LostRank& error) {
          said[ranks->rank()] = error.what();
        }
        EXPECT_THROW(ranks->sum(number), LostRank) << "it stays lost";
      },
      1s);
  EXPECT_THAT(said, ElementsAre(HasSubstr("lost rank 1, which"), "", HasSubstr("lost rank 1, which")));
}

TEST_F(RanksTogether, NameTheOneThatHangs) {
  std::vector<std::string> said(3);
  std::atomic<int> ended = 0;
  run(
      3,
      [&](const std::shared_ptr<Ranks>& ranks) {
        std::array<double, 1> number{1};
        while (ranks->rank() == 2 && ended < 2) std::this_thread::sleep_for(10ms);
        if (ranks->rank() == 2) return;
        const auto begin = std::chrono::steady_clock::now();
        try {
          ranks->sum(number);
        } catch (const LostRank& error) {
          said[ranks->rank()] = error.what();
        }
        EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
        ++ended;
      },
      500ms);
  EXPECT_THAT(said, ElementsAre(HasSubstr("lost rank 2, which"), HasSubstr("lost rank 2, which"), ""));
}

// ---- what they learn

constexpr int updates = 30;

// Pairs of different lengths that mean nothing, some of them held out.
std::shared_ptr<Dataset> dataset_of_pairs() {
  auto dataset = std::make_shared<Dataset>();
  torch::manual_seed(5);
  for (int i = 0; i < 24; ++i) {
    const torch::Tensor ids = torch::randint(4, small_vocab_size, {9 + i}, torch::kInt32);
    const auto* id = ids.data_ptr<int>();
    (i % 3 == 0 ? dataset->validation : dataset->train).push_back({{id, id + 4 + i / 2}, {id + 4 + i / 2, id + 9 + i}});
  }
  return dataset;
}

Config config_to_share() {
  Config config;
  config.model = {
      .d_model = 16, .num_heads = 2, .num_encoder_layers = 1, .num_decoder_layers = 1, .d_ff = 32, .dropout = 0};
  config.training.schedule = "constant";
  config.training.learning_rate = 0.002;
  config.training.warmup_steps = 5;
  config.training.batch_size = 6;
  config.training.clip_norm = 0.5;  // which clips, most of the time
  return config;
}

struct Learned {
  std::vector<double> losses, norms;
  double validation = 0;
  torch::Tensor weights;
};

Learned learned(const Config& config, const std::shared_ptr<Dataset>& dataset, Model model,
                const std::shared_ptr<Ranks>& ranks) {
  Trainer trainer(std::move(model), config, dataset, ranks);
  Learned made;
  MetricPoint point;
  for (int i = 0; i < updates; ++i) {
    point = trainer.step({});
    made.losses.push_back(*point[metric("loss")]);
    made.norms.push_back(*point[metric("gradient_norm")]);
  }
  made.weights = trainer.optimizer().parameters().clone();
  trainer.model().freeze();
  if (dataset->can_validate()) trainer.validate(trainer.model(), point, {});
  made.validation = point[metric("validation_nll")].value_or(0);
  return made;
}

class RanksLearning : public RanksTogether {
 protected:
  // The weights after training with `size` ranks; all except the first start with other weights.
  std::vector<Learned> by_ranks(const Config& config, const std::shared_ptr<Dataset>& dataset, int size) {
    std::vector<Model> models;
    for (int rank = 0; rank < size; ++rank) models.push_back(seeded_model(config.model, 7 + rank));
    std::vector<Learned> all(size);
    run(size, [&](const std::shared_ptr<Ranks>& ranks) {
      all[ranks->rank()] = learned(config, dataset, models[ranks->rank()], ranks);
    });
    return all;
  }

  void expect_as_one(const Config& config, const std::shared_ptr<Dataset>& dataset, std::initializer_list<int> sizes) {
    const Learned alone = learned(config, dataset, seeded_model(config.model), nullptr);
    for (const int size : sizes) {
      const std::vector<Learned> all = by_ranks(config, dataset, size);
      for (int i = 0; i < updates; ++i) {
        EXPECT_NEAR(all[0].losses[i] / alone.losses[i], 1, 1e-5) << size << " ranks, update " << i;
        EXPECT_NEAR(all[0].norms[i] / alone.norms[i], 1, 1e-4) << size << " ranks, update " << i;
      }
      EXPECT_NEAR(all[0].validation, alone.validation, 1e-5);
      for (const Learned& each : all) {
        EXPECT_EQ(each.losses, all[0].losses);
        EXPECT_EQ(each.validation, all[0].validation);
        EXPECT_TRUE(each.weights.equal(all[0].weights)) << "of all ranks, bit by bit";
      }
    }
    EXPECT_LT(alone.losses.back(), alone.losses.front()) << "or there was nothing to be learned";
  }
};

TEST_F(RanksLearning, AsOneWould) {
  expect_as_one(config_to_share(), dataset_of_pairs(), {2, 3});
}

TEST_F(RanksLearning, AsOneWouldOverSeveralBatchesAnUpdate) {
  Config config = config_to_share();
  config.training.batch_size = 3;
  config.training.accumulation_steps = 3;
  expect_as_one(config, dataset_of_pairs(), {2});
}

TEST_F(RanksLearning, AsOneWouldWhereSomeHaveNothingToDo) {
  Config config = config_to_share();
  config.training.batch_size = 2;
  expect_as_one(config, dataset_of_pairs(), {3});
}

TEST_F(RanksLearning, AsOneWouldOfRunningText) {
  Config config = config_to_share();
  config.model.architecture = "decoder-only";
  config.model.max_length = 6;
  config.training.batch_size = 5;
  auto dataset = std::make_shared<Dataset>();
  for (int i = 0; i < 200; ++i) dataset->train_stream.push_back(4 + i * i % 16);
  for (int i = 0; i < 50; ++i) dataset->validation_stream.push_back(4 + i * i % 16);
  expect_as_one(config, dataset, {2, 4});
}

TEST_F(RanksLearning, DropsOutOtherNumbersInEachRank) {
  Config config = config_to_share();
  config.model.dropout = 0.5;
  // Both ranks compute the same pair: what differs is dropped out.
  const auto dataset = std::make_shared<Dataset>();
  dataset->train = {{{4, 5, 6, 2}, {7, 8, 9}}, {{4, 5, 6, 2}, {7, 8, 9}}};
  config.training.batch_size = 2;
  const std::vector<Learned> both = by_ranks(config, dataset, 2);
  EXPECT_TRUE(both[0].weights.equal(both[1].weights));
  dataset->train.pop_back();
  const Learned one = learned(config, dataset, seeded_model(config.model), nullptr);
  EXPECT_GT(std::abs(both[0].losses[0] - one.losses[0]), 1e-4) << "the mean of two draws is not the first of them";
}

}  // namespace
}  // namespace attnscope
