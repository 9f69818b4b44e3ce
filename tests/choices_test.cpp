// A probe's candidates, entropy, ranks and logit lens, against the model's own logits.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "inspect/probe/inspect_model.h"
#include "inspect/probe/tensors.h"
#include "messages/decodings.h"
#include "model_fixture.h"
#include "tokenizer_fixture.h"

namespace attnscope {
namespace {

// Post-norm layers end in a norm of their own; the one behind the last layer tells only when its gains are not 1.
class Choices : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ModelConfig config = small_config();
    config.norm = GetParam();
    torch::manual_seed(5);
    model = make_model(config, tokenizer().vocab_size());
    stir(*model);
    model->freeze();
    Probe probe;
    probe.text = "the cat";
    probe.reference = "a dog ran";
    probe.decoding = true;
    inspect_model(*model, tokenizer(), probe, [&](Snapshot latest) { snapshot = std::move(latest); }, {});
    ASSERT_GT(snapshot.target_out.size(), 3U);
  }

  // features: T×D → T×V, the softmax of the logits
  torch::Tensor probabilities(const torch::Tensor& features) {
    return torch::softmax(model->logits(features).to(torch::kFloat64), -1);
  }

  torch::Tensor decoded(const std::vector<int>& inputs, Inspection* inspection = nullptr) {
    const Memory memory = model->encode(ids_tensor(ids_of(snapshot.source), torch::kCPU), {});
    return model->decode(ids_tensor(inputs, torch::kCPU), memory, nullptr, inspection)[0];
  }

  torch::NoGradGuard no_grad;
  Model model;
  Snapshot snapshot;
};

// 1 for the most probable; p: V
int rank_in(const torch::Tensor& p, int id) {
  const torch::Tensor falling = p.argsort(0, true);
  return static_cast<int>(falling.eq(id).nonzero().item<std::int64_t>()) + 1;
}

double probability(const torch::Tensor& p, int id) {
  return p[id].item<double>();
}

TEST_P(Choices, EntropyIsThatOfTheProbabilities) {
  const torch::Tensor p = probabilities(decoded(ids_of(snapshot.target_in)));
  const torch::Tensor entropies = -(p * p.log()).sum(-1);
  for (std::size_t step = 0; step < snapshot.decoding.size(); ++step)
    EXPECT_NEAR(snapshot.decoding[step].entropy, entropies[static_cast<std::int64_t>(step)].item<double>(), 1e-4);
}

TEST_P(Choices, TheReferencesPiecesHaveTheirRanks) {
  std::vector<int> inputs = {Tokenizer::bos_id};
  for (const GoldStep& step : snapshot.gold) inputs.push_back(step.token.id);
  inputs.pop_back();
  const torch::Tensor p = probabilities(decoded(inputs));
  std::vector<int> ranks;
  for (std::size_t step = 0; step < snapshot.gold.size(); ++step) {
    const GoldStep& gold = snapshot.gold[step];
    EXPECT_EQ(gold.rank, rank_in(p[static_cast<std::int64_t>(step)], gold.token.id));
    ranks.push_back(gold.rank);
  }
  EXPECT_GT(*std::ranges::max_element(ranks), 2) << "to tell ranks apart";
}

TEST_P(Choices, RankedProbabilitiesFallFromTheBestToTheLeast) {
  const torch::Tensor sorted = std::get<0>(probabilities(decoded(ids_of(snapshot.target_in))).sort(-1, true));
  const Decodings& decodings = *snapshot.decodings;
  EXPECT_EQ(decodings.ranks.front(), 1);
  EXPECT_EQ(decodings.ranks.back(), tokenizer().vocab_size());
  for (std::size_t step = 0; step < decodings.ranked.size(); ++step) {
    for (std::size_t i = 0; i < decodings.ranks.size(); ++i) {
      EXPECT_NEAR(decodings.ranked[step][i],
                  sorted[static_cast<std::int64_t>(step)][decodings.ranks[i] - 1].item<double>(), 1e-5);
    }
  }
}

TEST_P(Choices, TheLensReadsEveryLayerAndSublayerThroughTheLastNorm) {
  Inspection inspection{.sublayers_wanted = true, .hidden_wanted = true};
  decoded(ids_of(snapshot.target_in), &inspection);
  const auto parameters = model->named_parameters();
  const auto& lens = snapshot.decodings->lens;
  std::erase_if(inspection.sublayers, [](const SublayerTensors& sublayer) { return !sublayer.decoder; });
  ASSERT_EQ(lens.size(), inspection.sublayers.size());
  for (std::size_t i = 0; i < lens.size(); ++i) {
    const SublayerTensors& sublayer = inspection.sublayers[i];
    EXPECT_EQ(lens[i].layer, sublayer.layer);
    const bool is_last = sublayer.sublayer == Sublayer::feed_forward;
    EXPECT_EQ(lens[i].within, is_last ? std::nullopt : std::optional(sublayer.sublayer));
    const torch::Tensor stream = is_last ? inspection.hidden[static_cast<std::size_t>(sublayer.layer)] : sublayer.out;
    const torch::Tensor p = probabilities(torch::layer_norm(
        stream[0], {small_config().d_model}, parameters["decoder.norm.weight"], parameters["decoder.norm.bias"]));
    ASSERT_EQ(lens[i].cells.size(), snapshot.target_out.size());
    for (std::size_t step = 0; step < lens[i].cells.size(); ++step) {
      const torch::Tensor row = p[static_cast<std::int64_t>(step)];
      const LensCell& cell = lens[i].cells[step];
      EXPECT_NEAR(cell.chosen, probability(row, snapshot.target_out[step].id), 1e-4);
      EXPECT_EQ(cell.rank, rank_in(row, snapshot.target_out[step].id));
      EXPECT_EQ(rank_in(row, cell.best.front().token.id), 1);
      EXPECT_NEAR(cell.best.front().probability, probability(row, cell.best.front().token.id), 1e-4);
    }
  }
}

// Read after the last layer, it is what the model says.
TEST_P(Choices, TheLastLayersLensIsTheModelsOwnChoice) {
  for (std::size_t step = 0; step < snapshot.decoding.size(); ++step) {
    const LensCell& cell = snapshot.decodings->lens.back().cells[step];
    const Candidate& best = snapshot.decoding[step].candidates.front();
    EXPECT_EQ(cell.best.front().token, best.token);
    EXPECT_NEAR(cell.best.front().probability, best.probability, 1e-5);
    EXPECT_EQ(cell.rank, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Norms, Choices, testing::Values("post", "pre"));

}  // namespace
}  // namespace attnscope
