// The sweep command: its combinations, its table, and that it continues where it was stopped.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analysis/power_fit.h"
#include "commands/commands.h"
#include "files/storage/run_folder.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Sweeps : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("attnscope-sweep-" + std::to_string(::getpid()));
  SweepOptions options;

  void SetUp() override {
    options.train.corpus = letters_file();
    options.train.out = folder.string();
    options.train.threads = 1;
    options.train.set = {"model.d_model=16,32", "model.d_ff=32", "tokenizer.vocab_size=64", "training.steps=2",
                         "training.validation_interval=1", "training.optimizer=adam,adamw"};
    options.seeds = "1,2";
    options.json = true;
  }
  void TearDown() override { fs::remove_all(folder); }

  nlohmann::json run_it() {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    EXPECT_EQ(sweep(options), 0);
    said = testing::internal::GetCapturedStderr();
    return nlohmann::json::parse(testing::internal::GetCapturedStdout());
  }
  std::string said;
};

TEST_F(Sweeps, TrainEveryCombinationAndTabulateIt) {
  const nlohmann::json table = run_it();
  ASSERT_EQ(table.size(), 8U);
  EXPECT_EQ(table[0]["run"], "model.d_model=16,training.optimizer=adam,training.seed=1");
  EXPECT_EQ(table[7]["run"], "model.d_model=32,training.optimizer=adamw,training.seed=2");
  EXPECT_EQ(table[7]["configuration"]["training.optimizer"], "adamw");
  EXPECT_EQ(table[3]["steps"], 2);
  EXPECT_EQ(load_config(RunFolder{folder / table[7]["run"].get<std::string>()}.config()).model.d_model, 32);
  options.json = false;
  options.csv = true;
  testing::internal::CaptureStdout();
  EXPECT_EQ(sweep(options), 0);
  const std::string csv = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::ranges::count(csv, '\n'), 9);
  EXPECT_THAT(csv, testing::StartsWith("run,steps,loss,validation,lowest,"));
  EXPECT_THAT(csv, HasSubstr("\n\"model.d_model=16,training.optimizer=adam,training.seed=1\",2,"));
}

TEST_F(Sweeps, ContinueWhereTheyWereStopped) {
  run_it();
  const fs::path lost = folder / "model.d_model=32,training.optimizer=adam,training.seed=2";
  const fs::path kept = folder / "model.d_model=16,training.optimizer=adam,training.seed=1" / "model.safetensors";
  const auto before = fs::last_write_time(kept);
  fs::remove_all(lost);
  EXPECT_EQ(run_it().size(), 8U);
  EXPECT_TRUE(fs::exists(lost / "model.safetensors"));
  EXPECT_EQ(fs::last_write_time(kept), before) << "a complete run is left alone";
  EXPECT_THAT(said, HasSubstr("run 6 of 8"));
  EXPECT_THAT(said, Not(HasSubstr("run 1 of 8")));
}

TEST_F(Sweeps, RefuseAFolderWithOtherSettings) {
  run_it();
  options.train.set[1] = "model.d_ff=64";
  EXPECT_THROW(sweep(options), ConfigError);
}

TEST_F(Sweeps, NameWhatIsWrongBeforeAnythingIsTrained) {
  options.train.set = {"model.d_modl=16,32"};
  EXPECT_THROW(sweep(options), ConfigError);
  options.train.set = {"model.d_model=16,wide"};
  EXPECT_THROW(sweep(options), ConfigError);
  options.train.set = {"model.d_model=16,32"};
  for (const char* seeds : {"", "1,,2", "-1", "1.5", "a"}) {
    options.seeds = seeds;
    EXPECT_THROW(sweep(options), ConfigError) << seeds;
  }
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(Sweeps, ARankTrainsItsShare) {
  for (const auto& [name, value] :
       {std::pair{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "1"}})
    ::setenv(name, value, 1);
  testing::internal::CaptureStdout();
  EXPECT_EQ(sweep(options), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << "the table would not be complete";
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) ::unsetenv(name);
  EXPECT_FALSE(fs::exists(folder / "model.d_model=16,training.optimizer=adam,training.seed=1"));
  EXPECT_TRUE(fs::exists(folder / "model.d_model=16,training.optimizer=adam,training.seed=2" / "model.safetensors"));
  EXPECT_EQ(run_it().size(), 8U);
}

TEST(PowerFit, HasTheStandardErrorOfTheExponent) {
  // log y = 0, 1, 1, 2 at log x = 0, 1, 2, 3: slope 0.6, residual sum of squares 0.2.
  const double e = std::exp(1);
  const std::vector<double> x = {1, e, e * e, e * e * e}, y = {1, e, e, e * e};
  const auto fit = power_fit(x, y);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->exponent, 0.6, 1e-9);
  EXPECT_NEAR(fit->error, std::sqrt(0.2 / 2 / 5), 1e-9);
}

TEST(PowerFit, FindsAnExactPower) {
  const std::vector<double> x = {1, 2, 4, 8}, y = {3, 1.5, 0.75, 0.375};
  const auto fit = power_fit(x, y);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->exponent, -1, 1e-9);
  EXPECT_NEAR(fit->factor, 3, 1e-9);
  EXPECT_NEAR(fit->r2, 1, 1e-9);
  EXPECT_FALSE(power_fit(std::vector<double>{1, 2, 2}, std::vector<double>{1, 2, 3})) << "two different x";
  EXPECT_FALSE(power_fit(std::vector<double>{0, 1, 2}, std::vector<double>{1, 2, 3})) << "no logarithm";
}

}  // namespace
}  // namespace attnscope
