// Two real runs in lockstep: A learns as it would alone, and A beside itself differs in nothing.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <vector>

#include "analysis/model_comparison.h"
#include "losses.h"
#include "messages/metrics.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"
#include "session/lockstep.h"

namespace attnscope {
namespace {

const std::string sentence = "a b c d";

// So many rounds of both; what each lost.
std::pair<std::vector<double>, std::vector<double>> trained_in_turn(TorchEngine& a, TorchEngine& b, int rounds) {
  std::vector<double> of_a, of_b;
  for (int round = 0; round < rounds; ++round) {
    for (Engine* engine : next_in_lockstep({&a, &b})) {
      const MetricPoint point = engine->train_step({});
      (engine == &a ? of_a : of_b).push_back(*point[metric("loss")]);
    }
  }
  return {of_a, of_b};
}

Snapshot inspected_at(TorchEngine& engine) {
  std::shared_ptr<const Snapshot> whole;
  Probe probe;
  probe.text = sentence;
  probe.embeddings = EmbeddingsWanted{.chosen = "a"};
  engine.probe(probe, [&](std::shared_ptr<const Snapshot> inspection) { whole = std::move(inspection); }, {});
  return *whole;
}

Config with(std::string_view key, std::string_view value) {
  Config config = tiny_config();
  set_field(config, key, value);
  return config;
}

TEST(Lockstep, ALearnsAsItWouldAlone) {
  TorchEngine alone, a;
  alone.reset(tiny_config(), {});
  const std::vector<double> expected = losses(alone, 12);
  a.reset(tiny_config(), {});
  const auto b = a.sibling();
  b->reset(with("model.positions", "alibi"), {});
  const auto [of_a, of_b] = trained_in_turn(a, *b, 12);
  EXPECT_EQ(of_a, expected);
  EXPECT_EQ(of_b.size(), expected.size());
  EXPECT_NE(of_b, expected);
  for (const auto& item : alone.model().named_parameters())
    EXPECT_TRUE(torch::equal(item.value(), a.model().named_parameters()[item.key()])) << item.key();
}

TEST(Lockstep, ARunBesideItselfDiffersInNothing) {
  TorchEngine a;
  a.reset(tiny_config(), {});
  const auto b = a.sibling();
  b->reset(tiny_config(), {});
  const auto [of_a, of_b] = trained_in_turn(a, *b, 7);
  EXPECT_EQ(of_a, of_b);
  const Snapshot snapshot_a = inspected_at(a), snapshot_b = inspected_at(*b);
  ASSERT_FALSE(heads_apart(snapshot_a, snapshot_b).empty());
  for (const HeadApart& head : heads_apart(snapshot_a, snapshot_b)) {
    EXPECT_EQ(head.apart, 0.0F);
    for (const float value : compare_maps(snapshot_a, snapshot_b, head.place).difference.values) EXPECT_EQ(value, 0);
  }
  EXPECT_TRUE(compare_outputs(snapshot_a, snapshot_b).same());
  for (const ComparedPositions& table : compare_positions(snapshot_a, snapshot_b)) {
    EXPECT_EQ(table.why_not, "");
    for (const float value : table.difference.values) EXPECT_EQ(value, 0);
  }
  const ComparedNeighbours neighbours = compare_neighbours(snapshot_a, snapshot_b);
  EXPECT_EQ(neighbours.why_not, "");
  EXPECT_EQ(neighbours.shared, static_cast<int>(neighbours.a.size()));
}

TEST(Lockstep, TheOneBehindCatchesUpAndLosesWhatItWouldHaveLost) {
  TorchEngine alone, a;
  alone.reset(with("model.norm", "pre"), {});
  const std::vector<double> expected = losses(alone, 6);
  a.reset(tiny_config(), {});
  losses(a, 4);
  const auto b = a.sibling();
  b->reset(with("model.norm", "pre"), {});
  const auto [of_a, of_b] = trained_in_turn(a, *b, 6);
  EXPECT_EQ(of_b, expected);
  EXPECT_EQ(of_a.size(), 2U);  // with the last two of B's
}

TEST(Lockstep, BothReadOneCorpusAndHaveNumbersOfTheirOwn) {
  TorchEngine a;
  const RunOpened first = a.reset(tiny_config(), {});
  const auto b = a.sibling();
  const RunOpened second = b->reset(with("model.num_heads", "4"), {});
  EXPECT_EQ(a.corpus(), b->corpus());
  EXPECT_EQ(a.dataset(), b->dataset());
  EXPECT_NE(first.run, second.run);
  EXPECT_EQ(inspected_at(a).run, first.run);
  EXPECT_EQ(inspected_at(*b).run, second.run);
}

TEST(Lockstep, OfATokenizerThatDiffersOnlyTheOutputsAreCompared) {
  TorchEngine a;
  a.reset(tiny_config(), {});
  const auto b = a.sibling();
  b->reset(with("tokenizer.type", "char"), {});
  const Snapshot snapshot_a = inspected_at(a), snapshot_b = inspected_at(*b);
  EXPECT_THAT(compare_maps(snapshot_a, snapshot_b, {}).why_not, testing::HasSubstr("tokenizers"));
  EXPECT_EQ(compare_outputs(snapshot_a, snapshot_b).why_not, "");
}

TEST(Lockstep, AModelWithoutAttentionSaysSo) {
  TorchEngine a;
  a.reset(tiny_config(), {});
  const auto b = a.sibling();
  Config recurrent = with("model.architecture", "recurrent");
  set_field(recurrent, "model.attention", "none");
  b->reset(recurrent, {});
  const Snapshot snapshot_a = inspected_at(a), snapshot_b = inspected_at(*b);
  EXPECT_EQ(compare_maps(snapshot_a, snapshot_b, {}).why_not, "B has no attention.");
  EXPECT_TRUE(heads_apart(snapshot_a, snapshot_b).empty());
  EXPECT_THAT(compare_positions(snapshot_a, snapshot_b).front().why_not, testing::HasSubstr("recurrent"));
}

}  // namespace
}  // namespace attnscope
