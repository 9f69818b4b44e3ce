// Models that have learned already, trained on: other programs' checkpoints and runs of one's own.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "checkpoint_copy.h"
#include "engine/torch_engine.h"
#include "files/storage/run_folder.h"
#include "messages/metrics.h"
#include "run_fixture.h"
#include "tuning_fixture.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

std::vector<int> ids(const Tokenizer& tokenizer, const std::string& text, Side side) {
  std::vector<int> ids;
  for (const Token& token : tokenizer.encode(text, side)) ids.push_back(token.id);
  return ids;
}

// A pair is trained on as it is translated: with the tokens that the family puts around a source, and the one it begins
// every output with.
void expect_as_translated(TorchEngine& engine) {
  const Tokenizer& tokenizer = engine.tokenizer();
  const Pair text = engine.corpus()->train[0];
  const PairTokens tokens = engine.dataset()->train[0];
  EXPECT_THAT(std::vector<int>(tokens.source.begin(), tokens.source.end()),
              testing::ElementsAreArray(tokenizer.source_ids(ids(tokenizer, text.source, Side::source))));
  std::vector<int> target = ids(tokenizer, text.target, Side::target);
  if (const int first = tokenizer.special().first; first >= 0) target.insert(target.begin(), first);
  EXPECT_THAT(std::vector<int>(tokens.target.begin(), tokens.target.end()), testing::ElementsAreArray(target));
}

class FineTuningOf : public FineTuning, public testing::WithParamInterface<const char*> {};

TEST_P(FineTuningOf, BeginsWithItsWeightsAndLearns) {
  const CheckpointCopy checkpoint(GetParam());
  const auto before = contents(checkpoint.folder);
  TorchEngine engine;
  Config config = engine.open_run(checkpoint.folder.string(), {}).config;
  EXPECT_EQ(config.model.from, checkpoint.folder.string());
  EXPECT_TRUE(config.corpus.source.empty());
  const torch::Tensor own = logits(engine);

  config = plainly(config);
  const RunOpened opened = engine.reset(config, {});
  EXPECT_EQ(opened.step, 0);
  EXPECT_GT(opened.train_pairs, 0);
  EXPECT_LT((logits(engine) - own).abs().max().item<double>(), 1e-5);

  // A run that is saved before the first step gives the same logits and names its origin.
  const std::string saved = (folder / GetParam()).string();
  engine.save_run(saved);
  TorchEngine again;
  const RunOpened as_saved = again.open_run(saved, {});
  EXPECT_EQ(as_saved.config.model.from, checkpoint.folder.string());
  EXPECT_EQ(as_saved.config.tokenizer.family, config.tokenizer.family);
  EXPECT_LT((logits(again) - own).abs().max().item<double>(), 1e-5);

  if (!config.model.is_language_model()) {
    expect_as_translated(engine);
    const double begin = likelihood(engine);
    const double first = *engine.train_step({})[metric("loss")];
    EXPECT_NEAR(first, begin, 1e-4 * begin) << "the whole of it is one batch";
    double last = first;
    for (int i = 0; i < 12; ++i) last = *engine.train_step({})[metric("loss")];
    EXPECT_LT(last, 0.95 * first);
  }
  EXPECT_EQ(contents(checkpoint.folder), before) << "nothing is written there";
}

INSTANTIATE_TEST_SUITE_P(Families, FineTuningOf,
                         testing::Values("marian", "t5", "t5-v1_1", "gpt2", "llama", "smollm", "bart", "mbart",
                                         "m2m_100"));

TEST_F(FineTuning, ASavedRunHasEveryFileOfTheTokenizer) {
  const std::vector<std::filesystem::path> saved = RunFolder{"run"}.files();
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(ATTNSCOPE_TEST_DATA) / "checkpoints")) {
    if (!entry.is_directory()) continue;
    TorchEngine engine;
    engine.open_run(random_checkpoint(entry.path().filename().string()).string(), {});
    for (const auto& [file, bytes] : engine.tokenizer().files())
      EXPECT_THAT(saved, testing::Contains(std::filesystem::path("run") / file)) << entry.path();
  }
}

TEST_F(FineTuning, OfALanguageModelReadsTheTextAsItIs) {
  std::ofstream(folder / "text.txt") << "The street was too wide.\nShe reads an old book.\n\nA cat and a dog.\n";
  for (const char* family : {"gpt2", "llama", "smollm"}) {
    const CheckpointCopy checkpoint(family);
    TorchEngine engine;
    Config config = plainly(engine.open_run(checkpoint.folder.string(), {}).config);
    config.corpus.source = (folder / "text.txt").string();
    config.model.max_length = config.model.positions == "learned" ? config.model.max_length : 16;
    engine.reset(config, {});
    const std::span<const int> stream = engine.dataset()->train_stream;
    const Tokenizer& tokenizer = engine.tokenizer();
    EXPECT_THAT(engine.corpus()->text.train, testing::StartsWith(tokenizer.decode(stream).substr(0, 24))) << family;
    EXPECT_EQ(std::ranges::count(stream, tokenizer.special().end), 0) << family << ": no line is a text's end";
    EXPECT_THAT(tokenizer.decode(stream), HasSubstr("\n")) << family;
    const double first = *engine.train_step({})[metric("loss")];
    EXPECT_TRUE(std::isfinite(first));
    double last = first;
    for (int i = 0; i < 15; ++i) last = *engine.train_step({})[metric("loss")];
    EXPECT_LT(last, first) << family;
  }
}

TEST_F(FineTuning, IsRefusedForAnotherModel) {
  const CheckpointCopy checkpoint("marian");
  TorchEngine engine;
  const Config opened = engine.open_run(checkpoint.folder.string(), {}).config;
  const auto complaint = [&](const char* field, const char* value) -> std::string {
    Config config = plainly(opened);
    set_field(config, field, value);
    try {
      engine.reset(config, {});
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint("model.norm", "pre"),
            "model.norm is \"pre\", allowed with the weights of " + checkpoint.folder.string() + ": \"post\"");
  EXPECT_THAT(complaint("model.d_ff", "32"), HasSubstr("model.d_ff is \"32\""));
  EXPECT_THAT(complaint("tokenizer.vocab_size", "50"), HasSubstr("tokenizer.vocab_size is \"50\""));
  EXPECT_EQ(complaint("model.max_length", "32"), "") << "shorter sentences need less memory";
  EXPECT_EQ(complaint("model.dropout", "0.3"), "");
}

TEST_F(FineTuning, NeedsACorpus) {
  const CheckpointCopy checkpoint("marian");
  TorchEngine engine;
  const Config config = engine.open_run(checkpoint.folder.string(), {}).config;
  EXPECT_THROW(engine.reset(config, {}), CorpusError);
  EXPECT_EQ(engine.config(), config) << "the open one stays";
}

TEST_F(FineTuning, OfAFolderThatIsGoneSaysSo) {
  Config config = tiny_config();
  config.model.from = (folder / "gone").string();
  TorchEngine engine;
  EXPECT_THROW(engine.reset(config, {}), std::runtime_error);
}

}  // namespace
}  // namespace attnscope
