// The batch that is shown is the one that the trainer takes next, with the zeros that its dropout draws.
#include <gmock/gmock.h>

#include "kernels/dropout.h"
#include "model/inspection.h"
#include "probe/tensors.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

std::vector<std::int64_t> ids_of(const torch::Tensor& ids) {
  return {ids.data_ptr<std::int64_t>(), ids.data_ptr<std::int64_t>() + ids.numel()};
}

void expect_same(const BatchSide& side, const torch::Tensor& ids, const Tokenizer& tokenizer) {
  ASSERT_EQ(side.rows, ids.size(0));
  ASSERT_EQ(side.cols, ids.size(1));
  EXPECT_EQ(std::vector<std::int64_t>(side.ids.begin(), side.ids.end()), ids_of(ids.contiguous()));
  for (std::size_t i = 0; i < side.ids.size(); ++i) {
    if (side.ids[i] != Tokenizer::pad_id) {
      EXPECT_EQ(side.pieces[i], tokenizer.piece(side.ids[i]));
    }
  }
}

std::shared_ptr<const BatchLook> look(TorchEngine& engine, int part = 0) {
  std::shared_ptr<const Snapshot> last;
  engine.probe({.request = 1, .text = "a b c", .batch = BatchWanted{part}}, [&](auto taken) { last = taken; }, {});
  return last->batch;
}

TEST(BatchLook, IsTheBatchOfTheComingUpdate) {
  TorchEngine engine;
  const Config config = tiny_config();
  engine.reset(config, {});
  const auto dataset = engine.dataset();
  BatchSequence sequence(dataset->train, {config.training.batch_size, config.training.batch_tokens},
                         config.training.seed);
  for (std::int64_t step = 0; step < 3; ++step) {
    const auto shown = look(engine);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->problem, "");
    EXPECT_EQ(shown->step, step + 1);
    const Batch taken = make_batch(dataset->train, sequence.at(step), torch::kCPU);
    if (shown->parts == 1) {
      expect_same(shown->source, taken.source, engine.tokenizer());
      expect_same(shown->target_in, taken.target_in, engine.tokenizer());
      expect_same(shown->target_out, taken.target_out, engine.tokenizer());
    }
    engine.train_step({});
  }
}

TEST(BatchLook, PartsAreTheTrainersTogetherTheWholeBatch) {
  const Config config = tiny_config();
  TorchEngine engine;
  engine.reset(config, {});
  const auto dataset = engine.dataset();
  BatchLooker looker(config, dataset);
  const auto indices = BatchSequence(dataset->train, {config.training.batch_size}, config.training.seed).at(4);
  const auto parts = parts_of_like_work(dataset->train, indices, 3);
  int rows = 0;
  for (int i = 0; i < 3; ++i) {
    const BatchLook shown = looker.look({i}, config, engine.tokenizer(), 4, 3);
    EXPECT_EQ(shown.parts, 3);
    expect_same(shown.source, make_batch(dataset->train, parts[static_cast<std::size_t>(i)], torch::kCPU).source,
                engine.tokenizer());
    rows += shown.source.rows;
  }
  EXPECT_EQ(rows, config.training.batch_size);
  EXPECT_EQ(looker.look({99}, config, engine.tokenizer(), 4, 3).asked.part, 2);
}

TEST(BatchLook, ALanguageModelHasWindowsWithoutSourceOrPadding) {
  Config config = tiny_config();
  config.model.architecture = "decoder-only";
  TorchEngine engine;
  engine.reset(config, {});
  const auto shown = look(engine);
  EXPECT_EQ(shown->source.rows, 0);
  EXPECT_EQ(shown->target_in.rows, config.training.batch_size);
  EXPECT_EQ(shown->padding_sorted, 0);
  EXPECT_EQ(std::ranges::count(shown->target_in.ids, Tokenizer::pad_id), 0);
  for (int col = 1; col < shown->target_in.cols; ++col)
    EXPECT_EQ(shown->target_in.id(0, col), shown->target_out.id(0, col - 1));
}

TEST(BatchLook, BatchesOfLikeLengthHaveLessPadding) {
  // Four pairs, two lengths: alike beside alike there is none.
  const std::vector<EncodedPair> pairs = {{{4, 2}, {}}, {{4, 4, 4, 2}, {4, 4}}, {{5, 2}, {}}, {{5, 5, 5, 2}, {5, 5}}};
  EXPECT_DOUBLE_EQ(padding_share(pairs, {{0, 2}, {1, 3}}), 0);
  // Longest 4 and 3: 2 rows × 7 places, of which 2 + 1 and 4 + 3 are pieces.
  EXPECT_DOUBLE_EQ(padding_share(pairs, {{0, 1}, {2, 3}}), 1 - 20.0 / 28.0);
  EXPECT_EQ(padding_share(pairs, {}), 0);

  TorchEngine engine;
  engine.reset(tiny_config(), {});
  const auto shown = look(engine);
  EXPECT_LT(shown->padding_sorted, shown->padding_unsorted);
  EXPECT_GT(shown->padding_unsorted, 0.1);
}

class DropoutOf : public testing::TestWithParam<const char*> {};

// The model trained on that part zeroes what the page shows.
TEST_P(DropoutOf, TheEmbeddingIsTheModelsOwn) {
  Config config = tiny_config();
  config.model.architecture = GetParam();
  config.model.dropout = 0.3;
  TorchEngine engine;
  engine.reset(config, {});
  const auto shown = look(engine);
  const auto dataset = engine.dataset();
  const Batch part = BatchSource(config, dataset).parts(0, shown->parts, torch::kCPU).front();

  SequenceModel& model = engine.model();
  const torch::NoGradGuard no_grad;
  const auto embedded = [&](bool trained) {
    model.train(trained);
    const kernels::DropoutScope scope(config.training.seed, 0, 0);
    Inspection record{.sublayers_wanted = true};
    if (part.source.defined()) {
      model.encode(part.source, part.source_padding, &record);
    } else {
      model.decode(part.target_in, {}, nullptr, &record);
    }
    return record.sublayers.front().x[0];
  };
  const torch::Tensor dropped = embedded(true), whole = embedded(false);
  const torch::Tensor kept = torch::tensor(shown->kept.values).view({shown->kept.rows, shown->kept.cols});
  EXPECT_LE((dropped - whole * kept).abs().max().item<double>(), 1e-5);
  const double zeros = kept.eq(0).to(torch::kFloat64).mean().item<double>();
  EXPECT_NEAR(zeros, 0.3, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Architectures, DropoutOf, testing::Values("encoder-decoder", "decoder-only"));

TEST(BatchLook, IsMadeOnlyWhenItIsAskedFor) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  std::shared_ptr<const Snapshot> last;
  engine.probe({.request = 1, .text = "a b"}, [&](auto taken) { last = taken; }, {});
  EXPECT_FALSE(last->batch);
}

}  // namespace
}  // namespace attnscope
