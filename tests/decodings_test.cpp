// The outputs that a look inside a model finds are those that its searches and its loss find, for every architecture.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "analysis/bleu.h"
#include "inspect/evaluation/evaluation.h"
#include "inspect/probe/inspect_model.h"
#include "inspect/probe/readings.h"
#include "inspect/probe/tensors.h"
#include "model/model.h"
#include "tokenizer_fixture.h"
#include "training/decoding/search.h"
#include "training/validation.h"

namespace attnscope {
namespace {

ModelConfig small(const std::string& architecture) {
  ModelConfig config;
  config.architecture = architecture;
  config.attention = "bahdanau";  // of recurrent models
  config.d_model = 16;
  config.num_heads = 2;
  config.num_decoder_layers = 2;
  config.d_ff = 32;
  config.max_length = 48;
  return config;
}

Probe question(const std::string& text) {
  Probe probe;
  probe.text = text;
  probe.decoding = true;
  probe.options.beam = 3;
  probe.options.num_samples = 2;
  return probe;
}

class Outputs : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    torch::manual_seed(5);
    model = make_model(small(GetParam()), tokenizer().vocab_size());
    model->freeze();
  }

  Snapshot inspect(const Probe& probe) const {
    Snapshot latest;
    inspect_model(*model, tokenizer(), probe, [&](Snapshot snapshot) { latest = std::move(snapshot); }, {});
    return latest;
  }

  bool is_language_model() const { return model->config().is_language_model(); }

  torch::Tensor source(const Snapshot& snapshot) const { return ids_tensor(ids_of(snapshot.typed()), torch::kCPU); }

  SearchOptions search_options(const Snapshot& snapshot, const Probe& probe) const {
    SearchOptions options;
    options.beam = probe.options.beam;
    options.length_penalty = probe.options.length_penalty;
    options.limit = writing_limit(model->config(), snapshot.typed().size(), snapshot.prefix);
    return options;
  }

  std::vector<int> written(const Snapshot& snapshot) const {
    return ids_of(std::span(snapshot.target_out).subspan(snapshot.forced - snapshot.prefix));
  }

  Model model;
};

std::vector<Reading> of(Method method, const Decodings& decodings) {
  std::vector<Reading> found;
  for (const Reading& reading : decodings.readings) {
    if (reading.method == method) found.push_back(reading);
  }
  return found;
}

void expect_tree(const std::vector<BeamNode>& tree, const SearchTree& searched) {
  ASSERT_EQ(tree.size(), searched.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    EXPECT_EQ(tree[i].parent, searched[i].parent);
    EXPECT_EQ(tree[i].step, searched[i].step);
    EXPECT_EQ(tree[i].token.id, searched[i].token);
    EXPECT_EQ(tree[i].state, searched[i].state);
    EXPECT_DOUBLE_EQ(tree[i].total, searched[i].total);
    EXPECT_DOUBLE_EQ(tree[i].score, searched[i].score);
  }
}

TEST_P(Outputs, TreeAndHypothesesAreThoseOfTheSearch) {
  const Probe probe = question("the cat");
  const Snapshot snapshot = inspect(probe);
  std::vector<SearchTree> trees;
  const auto found = beam_search(*model, source(snapshot), {}, search_options(snapshot, probe), {}, &trees).front();
  expect_tree(snapshot.decodings->tree, trees.front());
  const std::vector<Reading> beam = of(Method::beam, *snapshot.decodings);
  ASSERT_EQ(beam.size(), found.size());
  for (std::size_t i = 0; i < beam.size(); ++i) {
    EXPECT_EQ(beam[i].log_probs, found[i].log_probs);
    EXPECT_DOUBLE_EQ(beam[i].score, found[i].score);
    EXPECT_EQ(beam[i].finished, found[i].finished);
  }
  EXPECT_EQ(path_ids(snapshot.decodings->tree, best_end(snapshot.decodings->tree)), ids_of(beam.front().tokens));
}

TEST_P(Outputs, GreedyIsWhatTheSnapshotShows) {
  const Snapshot snapshot = inspect(question("the cat"));
  const Reading& greedy = snapshot.decodings->readings.front();
  EXPECT_EQ(ids_of(greedy.tokens), written(snapshot));
  EXPECT_EQ(greedy.finished, !snapshot.stopped_at_limit && !is_language_model());
  const std::size_t first = snapshot.forced - snapshot.prefix;
  for (std::size_t i = 0; i < greedy.log_probs.size(); ++i) {
    const DecodingStep& step = snapshot.decoding[first + i];
    EXPECT_NEAR(std::exp(greedy.log_probs[i]), step.candidates[static_cast<std::size_t>(step.chosen)].probability,
                1e-5);
  }
}

TEST_P(Outputs, SamplesAreThoseOfTheirSeeds) {
  Probe probe = question("the cat");
  probe.options.sampling = {.temperature = 4, .seed = 11};
  probe.options.num_samples = 5;
  const auto samples = of(Method::sample, *inspect(probe).decodings);
  ASSERT_EQ(samples.size(), 5U);
  EXPECT_EQ(of(Method::sample, *inspect(probe).decodings), samples);
  std::set<std::vector<int>> different;
  for (const Reading& sample : samples) different.insert(ids_of(sample.tokens));
  EXPECT_GT(different.size(), 2U);
  probe.options.sampling.seed = 12;
  const auto next = of(Method::sample, *inspect(probe).decodings);
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) EXPECT_EQ(next[i].tokens, samples[i + 1].tokens);
}

TEST_P(Outputs, TheReferenceCostsItsLoss) {
  Probe probe = question("the cat");
  probe.reference = "a dog ran";
  const Snapshot snapshot = inspect(probe);
  double nats = 0;
  for (const GoldStep& step : snapshot.gold) nats -= std::log(static_cast<double>(step.probability));
  std::vector<int> reference = ids_of(tokenizer().encode(probe.reference));
  if (!is_language_model()) {
    const auto pair = encode_pair(tokenizer(), {probe.text, probe.reference}, model->config().max_length);
    const std::vector pairs = {*pair};
    const NegativeLogLikelihood nll = negative_log_likelihood(*model, pairs, 1, {});
    EXPECT_EQ(static_cast<std::size_t>(nll.tokens), snapshot.gold.size());
    EXPECT_NEAR(nats, nll.nats, 1e-3);
    EXPECT_EQ(snapshot.gold.back().token.id, Tokenizer::eos_id);
    return;
  }
  // The prompt's end and the reference, read at once.
  const torch::NoGradGuard no_grad;
  std::vector<int> inputs = ids_of(snapshot.typed());
  const auto first = static_cast<std::int64_t>(inputs.size()) - 1;
  inputs.insert(inputs.end(), reference.begin(), reference.end() - 1);
  const torch::Tensor log_p =
      torch::log_softmax(model->logits(model->decode(ids_tensor(inputs, torch::kCPU), {}))[0], -1);
  double expected = 0;
  for (std::size_t i = 0; i < reference.size(); ++i)
    expected -= log_p[first + static_cast<std::int64_t>(i)][reference[i]].item<double>();
  EXPECT_EQ(snapshot.gold.size(), reference.size());
  EXPECT_NEAR(nats, expected, 1e-3);
}

TEST_P(Outputs, ChangesReachBeamAndSamples) {
  Probe probe = question("the cat");
  probe.options.sampling = {.temperature = 2, .seed = 3};
  const Snapshot plain = inspect(probe);
  probe.interventions.replaced = {{is_language_model(), 1, tokenizer().encode("dog").back().id}};
  const Snapshot changed = inspect(probe);
  std::vector<SearchTree> trees;
  SearchOptions options = search_options(changed, probe);
  options.interventions = &changed.interventions;
  beam_search(*model, source(changed), {}, options, {}, &trees);
  expect_tree(changed.decodings->tree, trees.front());
  EXPECT_NE(changed.decodings->tree, plain.decodings->tree);
  const auto before = of(Method::sample, *plain.decodings);
  const auto after = of(Method::sample, *changed.decodings);
  EXPECT_NE(before[0].log_probs, after[0].log_probs);
}

void expect_same_maps(const AttentionMaps& a, const AttentionMaps& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t layer = 0; layer < a.size(); ++layer) {
    for (std::size_t head = 0; head < a[layer].size(); ++head) {
      ASSERT_EQ(a[layer][head].values.size(), b[layer][head].values.size());
      for (std::size_t i = 0; i < a[layer][head].values.size(); ++i)
        EXPECT_NEAR(a[layer][head].values[i], b[layer][head].values[i], 1e-5);
    }
  }
}

TEST_P(Outputs, TheOutputThatIsLookedAtLooksWhereTheSnapshotDoes) {
  Probe probe = question("the cat");
  probe.hypothesis = written(inspect(probe));
  const Snapshot snapshot = inspect(probe);
  const HypothesisInspection& hypothesis = snapshot.decodings->hypothesis;
  EXPECT_EQ(hypothesis.ids, probe.hypothesis);
  EXPECT_EQ(hypothesis.text, snapshot.output_text);
  const bool text = is_language_model();
  expect_same_maps(hypothesis.maps, text ? snapshot.decoder : snapshot.cross);
  EXPECT_EQ(hypothesis.keys, text ? snapshot.target_in : snapshot.source);
  EXPECT_EQ(hypothesis.queries, text ? snapshot.target_in : snapshot.target_out);
}

TEST_P(Outputs, WithoutAWishTheBestOfTheBeamIsLookedAt) {
  const Snapshot snapshot = inspect(question("the cat"));
  EXPECT_EQ(snapshot.decodings->hypothesis.ids, ids_of(of(Method::beam, *snapshot.decodings).front().tokens));
}

TEST_P(Outputs, BleuOfTheReferenceItselfIsAHundred) {
  Probe probe = question("the cat");
  probe.prefix = "the dog sat on the mat";
  EXPECT_FALSE(inspect(probe).decodings->readings.front().bleu);
  probe.reference = inspect(probe).decodings->readings.front().text;
  const Snapshot snapshot = inspect(probe);
  EXPECT_NEAR(snapshot.decodings->readings.front().bleu.value(), 100, 1e-9);
  for (const Reading& reading : snapshot.decodings->readings) {
    const std::vector<std::vector<std::string>> references = {{probe.reference}};
    EXPECT_DOUBLE_EQ(reading.bleu.value(), bleu(std::vector{reading.text}, references));
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, Outputs, testing::Values("encoder-decoder", "decoder-only", "recurrent"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace attnscope
