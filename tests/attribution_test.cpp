// A written piece's logit and probability, taken apart.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "analysis/attribution_methods.h"
#include "analysis/rank_correlation.h"
#include "inspect/attribution/attribution.h"
#include "inspect/attribution/logit_parts.h"
#include "model_fixture.h"
#include "tokenizer_fixture.h"

namespace attnscope {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

Model still(const ModelConfig& config) {
  torch::manual_seed(3);
  Model model = make_model(config, tokenizer().vocab_size());
  stir(*model);
  model->freeze();
  return model;
}

ModelConfig tiny(const std::string& architecture = "encoder-decoder") {
  ModelConfig config = small_config();
  config.architecture = architecture;
  config.d_model = 16;
  config.num_heads = 2;
  config.d_ff = 32;
  config.num_encoder_layers = config.num_decoder_layers = 2;
  return config;
}

AttributionResult inspect(SequenceModel& model, const std::string& text = "the cat sat", int output = 2) {
  return inspect_attribution(model, tokenizer(), {text, output}, [](double) {});
}

double logit_of(const AttributionResult& inspection, LogitPartKind kind) {
  double sum = 0;
  for (const LogitPart& part : inspection.parts)
    if (part.kind == kind) sum += part.logit;
  return sum;
}

// Every kind of norm, of output and of attention that a checkpoint may have.
std::vector<ModelConfig> transformers() {
  std::vector<ModelConfig> all;
  for (const char* architecture : {"encoder-decoder", "decoder-only"})
    for (const char* norm : {"post", "pre"})
      for (const char* kind : {"layer", "rms"})
        for (const bool final_norm : {true, false}) {
          ModelConfig config = tiny(architecture);
          config.norm = norm;
          config.norm_kind = kind;
          config.final_norm = final_norm;
          all.push_back(config);
        }
  all.push_back(tiny());
  all.back().output_bias = all.back().scaled_output = true;
  all.push_back(tiny());
  all.back().biases = false;
  all.push_back(tiny("decoder-only"));
  all.back().num_kv_heads = 1;
  all.back().d_head = 6;
  all.push_back(tiny());
  all.back().positions = "shaw";
  for (const char* architecture : {"encoder-decoder", "decoder-only"}) {
    all.push_back(tiny(architecture));
    all.back().norm = "pre";
    all.back().output_norms = all.back().query_key_norm = true;
    all.push_back(tiny(architecture));
    all.back().norm = "pre";
    all.back().parallel_sublayers = true;
  }
  return all;
}

TEST(Attribution, PartsSumToTheLogit) {
  for (const ModelConfig& config : transformers()) {
    const Model model = still(config);
    const AttributionResult inspection = inspect(*model);
    ASSERT_EQ(inspection.problem, "");
    ASSERT_EQ(inspection.parts_problem, "");
    const std::string what = config.architecture + " " + config.norm + " " + config.norm_kind;
    EXPECT_NEAR(parts_sum(inspection), inspection.logit, 1e-4) << what;
    EXPECT_GT(std::abs(logit_of(inspection, LogitPartKind::head)), 1e-3) << what;
    const auto heads = std::ranges::count(inspection.parts, LogitPartKind::head, &LogitPart::kind);
    EXPECT_EQ(heads, config.num_decoder_layers * config.num_heads * (config.has_encoder() ? 2 : 1)) << what;
  }
}

// With no norm after it, what the last layer's network adds goes to the logit unchanged: without it, just that is
// missing.
TEST(Attribution, APartIsWhatIsMissingWithoutIt) {
  ModelConfig config = tiny("decoder-only");
  config.norm = "pre";
  config.final_norm = false;
  const Model model = still(config);
  const std::vector<int> read = {5, 9, 7, 11};
  constexpr int wanted = 6;
  const auto logit = [&] {
    const torch::Tensor ids = torch::tensor(std::vector<std::int64_t>(read.begin(), read.end())).unsqueeze(0);
    return model->logits(model->decode(ids, {}))[0][-1][wanted].item<double>();
  };
  const std::vector<LogitPart> parts = logit_parts(*model, {}, read, wanted);
  const auto last = std::ranges::find_if(
      parts, [](const LogitPart& part) { return part.kind == LogitPartKind::feed_forward && part.place.layer == 1; });
  ASSERT_NE(last, parts.end());
  const double whole = logit();
  {
    torch::NoGradGuard no_grad;
    model->named_parameters()["decoder.layers.1.linear2.weight"].zero_();
    model->named_parameters()["decoder.layers.1.linear2.bias"].zero_();
  }
  EXPECT_NEAR(whole - logit(), last->logit, 1e-4);
  EXPECT_GT(std::abs(last->logit), 1e-3);
}

TEST(Attribution, IntegratedGradientsAreComplete) {
  std::vector<ModelConfig> configs = transformers();
  configs.push_back(tiny("recurrent"));
  for (const ModelConfig& config : configs) {
    const Model model = still(config);
    const AttributionResult inspection = inspect(*model);
    ASSERT_EQ(inspection.problem, "");
    EXPECT_LE(completeness_error(inspection), 0.01) << config.architecture << config.norm << config.norm_kind;
    EXPECT_THAT(inspection.integrated_errors, SizeIs(inspection.tokens.size()));
    EXPECT_LE(integration_error(inspection), 0.01) << "each token's own, not only their sum";
    EXPECT_GT(std::abs(inspection.log_prob - inspection.baseline_log_prob), 1e-3) << config.architecture;
    for (const TokenMethod& method : token_methods(inspection, 0))
      EXPECT_THAT(method.values, SizeIs(inspection.tokens.size()));
  }
}

int id_of(const std::string& token) {
  for (int id = 0; id < tokenizer().vocab_size(); ++id)
    if (tokenizer().token(id) == token) return id;
  return Tokenizer::unk_id;
}

torch::Tensor ids_of_tokens(const std::vector<std::string>& tokens) {
  std::vector<std::int64_t> ids;
  for (const std::string& token : tokens) ids.push_back(id_of(token));
  return torch::tensor(ids).unsqueeze(0);
}

TEST(Attribution, DeletionIsARunWithoutThePiece) {
  const Model model = still(tiny());
  const AttributionResult inspection = inspect(*model);
  ASSERT_THAT(inspection.heads, SizeIs(4));
  for (const ReadingHead& head : inspection.heads) {
    EXPECT_NEAR(std::accumulate(head.weights.begin(), head.weights.end(), 0.0), 1, rounding);
    EXPECT_THAT(head.norms, Each(testing::Gt(0)));
  }
  EXPECT_NEAR(std::accumulate(inspection.rollout.begin(), inspection.rollout.end(), 0.0), 1, 1e-4);
  std::vector<std::string> shorter = inspection.tokens;
  shorter.erase(shorter.begin() + 4);
  const torch::Tensor start = torch::full({1, 1}, Tokenizer::bos_id, torch::kInt64);
  const torch::Tensor written = ids_of_tokens({inspection.written[0], inspection.written[1]});
  const torch::Tensor features =
      model->decode(torch::cat({start, written}, 1), model->encode(ids_of_tokens(shorter), {}));
  const double without =
      torch::log_softmax(model->logits(features)[0][-1], -1)[id_of(inspection.written[2])].item<double>();
  EXPECT_NEAR(inspection.deletion[4], inspection.log_prob - without, 1e-4);
  EXPECT_GT(std::abs(inspection.deletion[4]), 1e-4);
}

// The model is deaf to a piece whose embedding it cannot tell from the unknown one: nothing comes from it.
TEST(Attribution, APieceLikeTheBaselineCountsNothing) {
  const Model model = still(tiny());
  const int cat = tokenizer().encode("c").back().id;
  {
    torch::NoGradGuard no_grad;
    torch::Tensor rows = model->embedding_rows(EmbeddingMatrix::source);
    rows[cat].copy_(rows[Tokenizer::unk_id]);
  }
  const AttributionResult inspection = inspect(*model, "the cat sat", 2);
  bool found = false;
  for (std::size_t i = 0; i < inspection.tokens.size(); ++i) {
    if (inspection.tokens[i] != tokenizer().token(cat)) continue;
    found = true;
    EXPECT_NEAR(inspection.integrated[i], 0, 1e-6);
  }
  EXPECT_TRUE(found);
}

TEST(Attribution, WhatCannotBeTakenApartIsSaid) {
  const Model recurrent = still(tiny("recurrent"));
  const AttributionResult inspection = inspect(*recurrent);
  EXPECT_THAT(inspection.parts, SizeIs(0));
  EXPECT_THAT(inspection.parts_problem, HasSubstr("recurrent"));
  EXPECT_THAT(inspection.integrated, SizeIs(inspection.tokens.size()));
  const Model reader = still(tiny("decoder-only"));
  EXPECT_THAT(inspect_attribution(*reader, tokenizer(), {"", 0}, [](double) {}).problem, testing::Not(""));
}

TEST(Attribution, RanksOfEqualValuesAreTheirMean) {
  const std::vector<double> up = {1, 2, 3, 4}, down = {8, 6, 4, 2}, flat = {5, 5, 5, 5}, tied = {1, 2, 2, 3};
  EXPECT_NEAR(rank_correlation(up, up), 1, 1e-12);
  EXPECT_NEAR(rank_correlation(up, down), -1, 1e-12);
  EXPECT_EQ(rank_correlation(up, flat), 0);
  rank_correlation(up, std::vector<double>(up.size(), NAN));  // ends
  EXPECT_NEAR(rank_correlation(up, tied), 4.5 / std::sqrt(5 * 4.5), 1e-12);
}

TEST(Attribution, OneSentenceSaysWhatAgrees) {
  AttributionResult inspection;
  inspection.written = {"a", "\u2581il"};
  inspection.output = 1;
  inspection.tokens = {"\u2581the", "\u2581cat", "\u2581sat", "</s>"};
  inspection.deletion = {0.1, -3, 1, 0.5};
  inspection.integrated = {0.2, 2, -1, 0.6};
  inspection.gradient_input = {4, 1, 2, 3};
  inspection.heads = {{{AttentionPart::cross, 0, 0}, {0.7, 0.1, 0.1, 0.1}, {}}};
  const std::string sentence = attribution_sentence(inspection, 0);
  EXPECT_THAT(sentence, HasSubstr("\u201Ccat\u201D changes log p(il) most, by +3.000"));
  EXPECT_THAT(sentence, HasSubstr("integrated gradients 1.00, weights -0.77, gradient \u00D7 input -1.00"));
}

}  // namespace
}  // namespace attnscope
