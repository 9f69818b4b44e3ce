// Nearest contexts, against a comparison of every token in float64.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "engine/torch_engine.h"
#include "inspect/evaluation/nearest.h"
#include "inspect/probe/tensors.h"
#include "run_fixture.h"
#include "training/validation.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

TEST(NearestContexts, AreThoseOfACompleteComparison) {
  for (const char* architecture : {"encoder-decoder", "decoder-only"}) {
    Config config = tiny_config();
    config.model.architecture = architecture;
    TorchEngine engine;
    engine.reset(config, {});
    for (int step = 0; step < 3; ++step) engine.train_step({});
    const std::string text = "the animal is tired";
    for (const VectorKind kind : {VectorKind::state, VectorKind::query, VectorKind::key, VectorKind::head}) {
      const NearestQuestion asked{.text = text, .token = 1, .kind = kind, .layer = 0, .head = 1};
      const NearestResult result = engine.nearest(asked, engine.model(), [](double) {});
      ASSERT_EQ(result.problem, "") << architecture;
      ASSERT_GT(result.contexts.size(), 2U) << architecture;
      float before = 1.001F;
      for (const NearestContext& found : result.contexts) {
        EXPECT_LE(found.context.value, before);
        before = found.context.value;
        for (const float weight : found.context.activations) EXPECT_LE(weight, 1.001F);
        EXPECT_FALSE(found.attended.empty());
      }
    }
  }
}

// The state after layer 1, compared in float64 with every token of the same batches.
TEST(NearestContexts, EqualBruteForce) {
  TorchEngine engine;
  const std::vector<Example> examples = engine.reset(tiny_config(), {}).examples;
  for (int step = 0; step < 3; ++step) engine.train_step({});
  SequenceModel& model = engine.model();
  const Tokenizer& tokenizer = engine.tokenizer();
  std::vector<EncodedPair> pairs;
  for (const Example& example : examples)
    if (const auto pair = encode_pair(tokenizer, {.source = example.source, .target = example.target}, 64))
      pairs.push_back(*pair);
  ASSERT_GT(pairs.size(), 1U);
  std::vector<Batch> batches;
  std::vector<std::int64_t> all(pairs.size());
  std::iota(all.begin(), all.end(), 0);
  batches.push_back(make_batch(pairs, all, model.device(), model.config().special()));
  const NearestQuestion asked{.text = examples.front().source, .token = 1};
  const NearestResult result = nearest_contexts(model, tokenizer, batches, asked, {});
  ASSERT_FALSE(result.contexts.empty());
  const auto state = [&](const std::vector<int>& ids) {
    Inspection inspection{.states_wanted = true};
    model.encode(ids_tensor(ids, model.device()), {}, &inspection);
    return inspection.states[1][0].to(torch::kFloat64);
  };
  const torch::Tensor chosen = state(pairs.front().source)[1];
  std::vector<double> best;
  for (const EncodedPair& pair : pairs)
    best.push_back(torch::cosine_similarity(state(pair.source), chosen.unsqueeze(0), 1).max().item<double>());
  std::ranges::sort(best, std::greater<>());
  ASSERT_EQ(result.contexts.size(), std::min<std::size_t>(best.size(), 20));
  for (std::size_t i = 0; i < result.contexts.size(); ++i)
    EXPECT_NEAR(result.contexts[i].context.value, best[i], 1e-4) << i;
  EXPECT_NEAR(result.contexts.front().context.value, 1, 1e-5) << "the sentence itself";
}

TEST(NearestContexts, SayWhatTheModelLacks) {
  TorchEngine engine;
  engine.reset(tiny_config(), {});
  EXPECT_THAT(engine.nearest({.text = "it", .layer = 9}, engine.model(), [](double) {}).problem,
              HasSubstr("no such layer"));
  Config config = tiny_config();
  config.model.architecture = "recurrent";
  engine.reset(config, {});
  EXPECT_THAT(engine.nearest({.text = "it"}, engine.model(), [](double) {}).problem, HasSubstr("Transformer"));
}

}  // namespace
}  // namespace attnscope
