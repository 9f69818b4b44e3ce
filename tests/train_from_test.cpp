// The command that trains, begun with the weights of a checkpoint or a run.
#include <gmock/gmock.h>

#include "checkpoint_copy.h"
#include "commands/commands.h"
#include "config/fine_tuning.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"
#include "tuning_fixture.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

class TrainFrom : public FineTuning {
 protected:
  TrainOptions options(const std::string& from, const std::string& out, std::int64_t steps) const {
    TrainOptions o;
    o.from = from;
    o.corpus = corpus;
    o.out = (folder / out).string();
    o.steps = steps;
    o.threads = 1;
    o.device = "cpu";
    o.set = {"training.batch_size=8"};
    return o;
  }
  static void trained(const TrainOptions& o) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(train(o), 0) << testing::internal::GetCapturedStderr();
    said() = testing::internal::GetCapturedStderr();
  }
  static std::string& said() {
    static std::string text;
    return text;
  }
};

TEST_F(TrainFrom, ACheckpointGivesARunThatOpensAndGoesOnExactly) {
  const CheckpointCopy checkpoint("marian");
  const auto before = contents(checkpoint.folder);
  trained(options(checkpoint.folder.string(), "whole", 6));
  EXPECT_THAT(said(), HasSubstr("initialized with the weights of " + checkpoint.folder.string()));
  trained(options(checkpoint.folder.string(), "parted", 3));
  TrainOptions rest;
  rest.out = (folder / "parted").string();
  rest.resume = true;
  rest.steps = 6;
  trained(rest);
  const RunFolder whole{folder / "whole"}, parted{folder / "parted"};
  EXPECT_EQ(read_file(whole.model(), 1U << 26U), read_file(parted.model(), 1U << 26U));
  EXPECT_EQ(read_file(whole.optimizer(), 1U << 26U), read_file(parted.optimizer(), 1U << 26U));
  const Config config = load_config(whole.config());
  EXPECT_EQ(config.model.from, checkpoint.folder.string());
  EXPECT_EQ(config.training.schedule, fine_tuning().schedule);
  EXPECT_EQ(contents(checkpoint.folder), before);
  for (const char* file : {"source.spm", "target.spm", "vocab.json"})
    EXPECT_EQ(read_file(whole.path / file, 1U << 26U), before.at(file)) << "its tokenizer is kept";
  fs::remove_all(checkpoint.folder);
  TorchEngine engine;
  EXPECT_EQ(engine.open_run(whole.path.string(), {}).step, 6) << "without the folder that it came from";
}

TEST_F(TrainFrom, ARunOfOnesOwn) {
  TorchEngine first;
  first.reset(tiny_config(), {});
  for (int i = 0; i < 3; ++i) first.train_step({});
  const std::string own = (folder / "own").string();
  first.save_run(own);
  TrainOptions on = options(own, "on", 2);
  on.corpus = letters_file();
  trained(on);
  const Config config = load_config(RunFolder{folder / "on"}.config());
  EXPECT_EQ(config.model.from, own);
  EXPECT_EQ(config.corpus.source, letters_file());
  EXPECT_EQ(read_file(RunFolder{folder / "on"}.tokenizer(), 1U << 26U),
            read_file(RunFolder{own}.tokenizer(), 1U << 26U));
  EXPECT_EQ(load_metrics(RunFolder{folder / "on"}.metrics()).size(), 2U) << "its steps are counted anew";

  TorchEngine engine;
  Config anew = engine.open_run(own, {}).config;
  anew.model.from = own;
  engine.reset(anew, {});
  TorchEngine opened;
  opened.open_run(own, {});
  EXPECT_LT((logits(engine) - logits(opened)).abs().max().item<double>(), 1e-6);
}

TEST_F(TrainFrom, GoesNotWithResume) {
  TrainOptions o = options("somewhere", "out", 1);
  o.resume = true;
  EXPECT_ANY_THROW(train(o));
}

}  // namespace
}  // namespace attnscope
