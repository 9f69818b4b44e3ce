// How wide a search is, and how long its outputs may become.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <map>

#include "data/tokenizer/tokenizer.h"
#include "training/decoding/search.h"

namespace attnscope {
namespace {

// ---- width

// A language of ten pieces in which the next one depends on the last alone; never padding, never <s>.
NextLogProbs bigrams(std::uint64_t seed) {
  torch::manual_seed(seed);
  torch::Tensor scores = torch::randn({10, 10}, torch::kFloat64);
  scores.slice(1, 0, 2).fill_(-1e9);
  return [table = torch::log_softmax(scores, 1)](const torch::Tensor&, const torch::Tensor& tokens) {
    return table.index_select(0, tokens.select(1, -1));
  };
}

// How many of each fate there are at every step.
std::map<int, std::map<HypothesisState, std::int64_t>> states(const SearchTree& tree) {
  std::map<int, std::map<HypothesisState, std::int64_t>> counts;
  for (const Extension& extension : tree) ++counts[extension.step][extension.state];
  return counts;
}

TEST(SearchWidth, IsTheBeams) {
  const torch::Tensor begin = torch::full({1, 1}, Tokenizer::bos_id, torch::kInt64);
  for (const std::int64_t beam : {1, 2, 3, 4}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::vector<SearchTree> trees;
      const auto found = beam_search(bigrams(seed), begin, {.beam = beam, .limit = 8}, &trees).front();
      EXPECT_LE(static_cast<std::int64_t>(found.size()), beam);
      auto steps = states(trees.front());
      for (auto& [step, count] : steps) {
        EXPECT_LE(count[HypothesisState::kept], beam);
        EXPECT_LE(count[HypothesisState::kept] + count[HypothesisState::finished] + count[HypothesisState::pruned],
                  2 * beam);
      }
      if (beam > 1) {
        EXPECT_EQ(steps[0][HypothesisState::kept], beam) << "of 2·beam at most one ends";
      }
    }
  }
}

// ---- length

Model with_room(std::int64_t max_length) {
  ModelConfig config{.d_model = 16, .num_heads = 2, .num_encoder_layers = 1, .num_decoder_layers = 1, .d_ff = 32};
  config.max_length = max_length;
  torch::manual_seed(11);
  Model model = make_model(config, 30);
  model->freeze();
  return model;
}

// All features are 1, and one piece alone answers to it.
Model endless(std::int64_t max_length) {
  Model model = with_room(max_length);
  torch::NoGradGuard no_grad;
  const auto parameters = model->named_parameters();
  parameters["decoder.norm.weight"].zero_();
  parameters["decoder.norm.bias"].fill_(1);
  parameters["embedding.weight"].zero_()[7] = 1;
  return model;
}

struct Sources {
  torch::Tensor ids;      // int64 B×S
  torch::Tensor padding;  // bool B×S
};

Sources of_lengths(const std::vector<std::int64_t>& lengths, std::int64_t longest) {
  torch::manual_seed(2);
  Sources sources;
  sources.ids = torch::randint(4, 30, {static_cast<std::int64_t>(lengths.size()), longest}, torch::kInt64);
  for (std::size_t row = 0; row < lengths.size(); ++row)
    sources.ids[static_cast<std::int64_t>(row)].slice(0, lengths[row]).fill_(Tokenizer::pad_id);
  sources.padding = sources.ids.eq(Tokenizer::pad_id);
  return sources;
}

TEST(SearchLength, IsBoundedByTheSourcesOwnLength) {
  const Sources sources = of_lengths({30, 1, 10, 90}, 90);
  for (const std::int64_t beam : {1, 3}) {
    const auto lengths = [&](std::int64_t max_length, std::int64_t limit) {
      const Model model = endless(max_length);
      std::vector<std::size_t> found;
      for (const auto& hypotheses : beam_search(*model, sources.ids, sources.padding, {.beam = beam, .limit = limit}))
        found.push_back(hypotheses.front().ids.size());
      return found;
    };
    EXPECT_THAT(lengths(200, 0), testing::ElementsAre(80, 51, 60, 140));
    EXPECT_THAT(lengths(100, 0), testing::ElementsAre(80, 51, 60, 100)) << "there are no positions for more";
    EXPECT_THAT(lengths(200, 9), testing::Each(9)) << "one that is asked for is everybody's";
  }
}

TEST(SearchLength, WhoSharesABatchDoesNotMatter) {
  const std::vector<std::int64_t> lengths = {12, 3, 7, 12, 1};
  const Sources sources = of_lengths(lengths, 12);
  const Model model = with_room(100);
  {
    torch::NoGradGuard no_grad;  // spread, so that the choices are clear and differ from row to row
    for (torch::Tensor& parameter : model->parameters()) parameter.add_(torch::randn_like(parameter) * 0.3);
  }
  for (const std::int64_t beam : {1, 3}) {
    const auto together = beam_search(*model, sources.ids, sources.padding, {.beam = beam});
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      const torch::Tensor own = sources.ids[static_cast<std::int64_t>(row)].slice(0, 0, lengths[row]).unsqueeze(0);
      const auto alone = beam_search(*model, own, {}, {.beam = beam}).front();
      ASSERT_EQ(together[row].size(), alone.size()) << row;
      for (std::size_t i = 0; i < alone.size(); ++i) {
        EXPECT_EQ(together[row][i].ids, alone[i].ids) << row;
        EXPECT_EQ(together[row][i].finished, alone[i].finished);
      }
    }
  }
}

}  // namespace
}  // namespace attnscope
