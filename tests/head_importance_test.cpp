// The loss without each head, against the same models evaluated with the head ablated.
#include <gmock/gmock.h>

#include "engine/torch_engine.h"
#include "inspect/evaluation/head_importance.h"
#include "model/inspection.h"
#include "run_fixture.h"
#include "training/validation.h"

namespace attnscope {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

const HeadImportance& of(const HeadsResult& result, const HeadPlace& place) {
  return *std::ranges::find(result.heads, place, &HeadImportance::place);
}

HeadsResult inspection_of(TorchEngine& engine) {
  return engine.heads(engine.model(), [](double) {});
}

TEST(HeadImportance, IsTheLossWithTheHeadSwitchedOff) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  for (int step = 0; step < 3; ++step) engine.train_step({});
  engine.probe({.request = 1, .text = "a b"}, [](auto) {}, {});  // the watched model has the weights
  const HeadsResult result = inspection_of(engine);
  EXPECT_THAT(result.heads, SizeIs(6));  // three attentions of one layer, two heads each
  EXPECT_NEAR(result.nll, validate(engine.model(), *engine.dataset(), 8, {}).per_token(), 1e-5);
  // All heads off is all there is to lose, in whatever order.
  ASSERT_THAT(result.pruning, SizeIs(7));
  EXPECT_EQ(result.pruning.front().nll, result.nll);
  Interventions all;
  for (const HeadImportance& head : result.heads) all.heads_off.push_back(head.place);
  double nats = 0;
  std::int64_t tokens = 0;
  for (const Batch& batch : validation_batches(engine.model(), *engine.dataset(), 8)) {
    const torch::NoGradGuard no_grad;
    Inspection off{.interventions = &all};
    const Memory memory = engine.model().encode(batch.source, batch.source_padding, &off);
    nats += engine.model()
                .loss(engine.model().decode(batch.target_in, memory, nullptr, &off), batch.target_out, 0)
                .item<double>() *
            static_cast<double>(batch.targets);
    tokens += batch.targets;
  }
  EXPECT_EQ(result.tokens, tokens);
  EXPECT_NEAR(result.pruning.back().nll, nats / static_cast<double>(tokens), 1e-6);
}

// A head whose part of W_O is nought says nothing: it costs nothing, and no mask on it would be told anything.
TEST(HeadImportance, OfASilentHeadIsNothingEitherWay) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  engine.probe({.request = 1, .text = "a b"}, [](auto) {}, {});
  const HeadPlace silent{AttentionPart::cross, 0, 1};
  {
    const torch::NoGradGuard no_grad;
    engine.model().named_parameters()["decoder.layers.0.multihead_attn.out_proj.weight"].slice(1, 8, 16).zero_();
  }
  const HeadsResult result = inspection_of(engine);
  EXPECT_NEAR(of(result, silent).exact, 0, 1e-7);
  EXPECT_EQ(of(result, silent).fast, 0);
  EXPECT_GT(of(result, {AttentionPart::cross, 0, 0}).fast, 0);
}

// ∂L/∂ξ by the difference of two passes: the other heads' columns of W_O scaled a little is what a mask is.
TEST(HeadImportance, TheFastOneIsTheGradientOfAMask) {
  Config config = tiny_config();
  config.training.batch_size = 1;  // a sentence a batch: |·| of each is that of the batch
  TorchEngine engine;
  engine.reset(config, {});
  engine.probe({.request = 1, .text = "a b"}, [](auto) {}, {});
  const HeadsResult result = inspection_of(engine);
  torch::Tensor columns =
      engine.model().named_parameters()["encoder.layers.0.self_attn.out_proj.weight"].slice(1, 0, 8);
  const torch::NoGradGuard no_grad;
  const torch::Tensor whole = columns.clone();
  constexpr double step = 1e-2;
  double mean = 0;
  const std::vector<Batch> batches = validation_batches(engine.model(), *engine.dataset(), 1);
  for (const Batch& batch : batches) {
    const auto cost = [&](double mask) {
      columns.copy_(whole * mask);
      const Memory memory = engine.model().encode(batch.source, batch.source_padding);
      return engine.model().loss(engine.model().decode(batch.target_in, memory), batch.target_out, 0).item<double>() *
             static_cast<double>(batch.targets);
    };
    mean += std::abs(cost(1 + step) - cost(1 - step)) / (2 * step) / static_cast<double>(batches.size());
  }
  columns.copy_(whole);
  EXPECT_NEAR(of(result, {AttentionPart::encoder, 0, 0}).fast, mean, 0.02 * mean + 1e-4);
}

// The mean over sentences of |∂L/∂ξ|: sentences of one batch must not cancel.
TEST(HeadImportance, TheFastOneDoesNotDependOnTheBatch) {
  Config config = tiny_config();
  std::vector<HeadsResult> results;
  for (const std::int64_t size : {1, 8}) {
    config.training.batch_size = size;
    TorchEngine engine;
    engine.reset(config, {});
    engine.probe({.request = 1, .text = "a b"}, [](auto) {}, {});
    results.push_back(inspection_of(engine));
  }
  for (const HeadImportance& head : results[0].heads)
    EXPECT_NEAR(of(results[1], head.place).fast, head.fast, 1e-3 * head.fast + 1e-7);
}

TEST(HeadImportance, OfALanguageModelAndOfNoHeads) {
  Config config = tiny_config();
  config.model.architecture = "decoder-only";
  TorchEngine engine;
  engine.reset(config, {});
  engine.probe({.request = 1, .text = "a b"}, [](auto) {}, {});
  const HeadsResult result = inspection_of(engine);
  EXPECT_THAT(result.heads, SizeIs(2));
  EXPECT_NEAR(result.nll, validate(engine.model(), *engine.dataset(), 8, {}).per_token(), 1e-5);

  config.model.architecture = "recurrent";
  engine.reset(config, {});
  EXPECT_THAT(inspection_of(engine).problem, HasSubstr("no heads to ablate"));
}

// Without queries and keys every visible key gets the same weight: 1 / (q + 1) on the first one.
TEST(HeadImportance, KnowsTheShareOfTheFirstToken) {
  Config config = tiny_config();
  config.model.architecture = "decoder-only";
  config.model.positions = "learned";
  TorchEngine engine;
  engine.reset(config, {});
  engine.probe({.request = 1, .text = "a b"}, [](auto) {}, {});
  EXPECT_NE(*inspection_of(engine).first_masked_nll, inspection_of(engine).nll);
  {
    const torch::NoGradGuard no_grad;
    for (const char* name : {"weight", "bias"})
      engine.model().named_parameters()["decoder.layers.0.self_attn.in_proj_" + std::string(name)].zero_();
  }
  double share = 0, queries = 0;
  for (const Batch& batch : validation_batches(engine.model(), *engine.dataset(), 8))
    for (std::int64_t row = 0; row < batch.target_out.size(0); ++row)
      for (std::int64_t query = 1; query < batch.target_out.size(1); ++query) {
        if (batch.target_out[row][query].item<std::int64_t>() == config.model.padding_id) continue;
        share += 1 / static_cast<double>(query + 1);
        ++queries;
      }
  const HeadsResult result = inspection_of(engine);
  for (const HeadImportance& head : result.heads) EXPECT_NEAR(head.first, share / queries, 1e-5);
  EXPECT_NEAR(*result.first_masked_nll, result.nll, 1e-6) << "all values are zero";
}

TEST(HeadImportance, AMaskedFirstTokenLeavesItsShareToTheOthers) {
  Config config = tiny_config();
  config.model.architecture = "decoder-only";
  TorchEngine engine;
  engine.reset(config, {});
  engine.probe({.request = 1, .text = "a b"}, [](auto) {}, {});
  const torch::Tensor ids = validation_batches(engine.model(), *engine.dataset(), 8).front().target_in;
  const Interventions masked = first_token_masked(engine.config().model, ids.size(1));
  Inspection plain, changed{.interventions = &masked};
  const torch::NoGradGuard no_grad;
  engine.model().decode(ids, Memory(), nullptr, &plain);
  engine.model().decode(ids, Memory(), nullptr, &changed);
  torch::Tensor expected = plain.decoder.front().clone();
  expected.slice(2, 1).select(3, 0).zero_();
  expected /= expected.sum(-1, true);
  EXPECT_TRUE(changed.decoder.front().allclose(expected, 1e-5, 1e-6));
}

TEST(HeadImportance, OverTheTrainingIsThatOfEveryRecordedStep) {
  Config config = tiny_config();
  config.training.history_interval = 2;
  config.training.kept_checkpoints = 4;
  TorchEngine engine;
  engine.reset(config, {});
  for (int step = 0; step < 6; ++step) {
    engine.train_step({});
    engine.record_weights();
  }
  engine.probe({.request = 1, .text = "a b"}, [](auto) {}, {});
  const std::vector<std::int64_t> recorded = engine.recorded_steps();
  ASSERT_FALSE(recorded.empty());
  double last = 0;
  const HeadsHistory history = engine.heads_history([&](double fraction) {
    EXPECT_GE(fraction, last);
    last = fraction;
  });
  EXPECT_EQ(history.problem, "");
  std::vector<std::int64_t> steps;
  for (const HeadsPoint& point : history.points) steps.push_back(point.step);
  EXPECT_TRUE(std::ranges::is_sorted(steps));
  EXPECT_TRUE(std::ranges::includes(steps, recorded));
  EXPECT_EQ(steps.back(), 6);
  // With so few batches, the last measurement of the present weights uses all of them.
  ASSERT_LE(validation_batches(engine.model(), *engine.dataset(), 8).size(), 4U);
  const HeadsResult present = inspection_of(engine);
  ASSERT_THAT(history.points.back().inspection.heads, SizeIs(present.heads.size()));
  for (std::size_t i = 0; i < present.heads.size(); ++i)
    EXPECT_NEAR(history.points.back().inspection.heads[i].exact, present.heads[i].exact, 1e-7);
  EXPECT_NE(history.points.front().inspection.nll, present.nll);
}

TEST(HeadImportance, CanBeGivenUp) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  engine.probe({.request = 1, .text = "a b"}, [](auto) {}, {});
  EXPECT_THROW(engine.heads(engine.model(), [](double) { throw Cancelled(); }), Cancelled);
}

}  // namespace
}  // namespace attnscope
