// Labels of tokens, linear probes of a run, and the tuned lens.
#include <gmock/gmock.h>

#include <unistd.h>

#include <filesystem>

#include "engine/torch_engine.h"
#include "files/storage/run_folder.h"
#include "inspect/evaluation/probing.h"
#include "inspect/evaluation/tuned_lens.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tokenizer word_tokenizer(const std::string& text) {
  TokenizerConfig config;
  config.type = "word";
  return Tokenizer(Tokenizer::train({text}, config));
}

TEST(TokenLabels, AreWhatIsKnownOfEveryToken) {
  const std::string text = "the king ( sees [ 7 ] ) now";
  const Tokenizer tokenizer = word_tokenizer(text);
  ModelConfig config;
  config.architecture = "decoder-only";
  config.d_model = 8;
  config.num_heads = config.num_decoder_layers = 1;
  config.d_ff = 8;
  config.max_length = 12;
  const Model model = make_model(config, tokenizer.vocab_size());
  model->freeze();
  const std::vector<int> ids = ids_of(tokenizer.encode(text));
  Batch batch;
  batch.target_in = torch::tensor(std::vector<std::int64_t>(ids.begin(), ids.end())).repeat({2, 1});
  batch.target_out = batch.target_in;
  const TokenSample sample(
      *model, {batch}, true, {.states_wanted = true}, [](const Inspection& pass) { return pass.states.back(); }, {});
  ASSERT_EQ(sample.tokens(), 18);
  const auto labels = [&](TokenLabel label) {
    std::vector<std::string> all = token_labels(sample, tokenizer, label, true);
    EXPECT_TRUE(std::equal(all.begin(), all.begin() + 9, all.begin() + 9)) << "the same sentence twice";
    all.resize(9);
    return all;
  };
  EXPECT_THAT(labels(TokenLabel::position), ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8"));
  EXPECT_THAT(labels(TokenLabel::depth), ElementsAre("0", "0", "1", "1", "2", "2", "1", "0", "0"));
  EXPECT_THAT(labels(TokenLabel::kind), ElementsAre("other word", "noun", "punctuation", "verb", "punctuation",
                                                    "number", "punctuation", "punctuation", "other word"));
  EXPECT_EQ(labels(TokenLabel::previous)[0], "");
  EXPECT_EQ(labels(TokenLabel::previous)[2], tokenizer.token(ids[1]));
}

TEST(Probes, OfARunAreFittedInEveryLayerAndOverTraining) {
  TorchEngine engine;
  Config config = tiny_config();
  config.corpus.held_out = 40;
  config.model.positions = "sinusoidal";
  engine.reset(config, {});
  engine.record_weights();
  for (int step = 0; step < 3; ++step) engine.train_step({});
  for (const bool decoder : {false, true}) {
    const ProbingQuestion asked{.decoder = decoder, .label = TokenLabel::position, .over_training = true};
    const ProbingResult result = engine.probing(asked, *engine.watch(), [](double) {});
    ASSERT_EQ(result.problem, "");
    EXPECT_EQ(result.has_embedding, !decoder);
    EXPECT_EQ(result.layers.size(), decoder ? 1U : 2U);
    ASSERT_EQ(result.points.size(), 2U);
    EXPECT_EQ(result.points.back().step, 3);
    EXPECT_GE(result.classes.size(), 4U);
    if (!decoder) {
      EXPECT_GT(result.points.back().accuracy.front(), 0.9) << "it is added to the embedding";
    }
    EXPECT_EQ(result.directions.back().rows, static_cast<int>(result.classes.size()));
    EXPECT_EQ(result.directions.back().cols, engine.config().model.d_model);
  }
  // What came before is not in the embedding, which sees one token.
  const ProbingResult previous = engine.probing({.label = TokenLabel::previous}, *engine.watch(), [](double) {});
  ASSERT_EQ(previous.problem, "");
  EXPECT_LT(previous.points.front().accuracy.front(), 0.7);
  EXPECT_THAT(engine.probing({.label = TokenLabel::depth}, *engine.watch(), [](double) {}).problem,
              HasSubstr("fewer than two classes"));
  EXPECT_THAT(engine.probing({.label = TokenLabel::sense, .word = "xyz"}, *engine.watch(), [](double) {}).problem,
              HasSubstr("no sentence with"));
}

// A decoder-only model without norms that sees one token: its second layer is a linear map.
struct LinearLayers {
  static constexpr std::int64_t v = 24;
  Model model;
  torch::Tensor streams;  // N×2×D: after the first layer, and after the second

  LinearLayers() {
    const torch::NoGradGuard no_grad;
    torch::manual_seed(4);
    ModelConfig config;
    config.architecture = "decoder-only";
    config.d_model = 12;
    config.num_heads = 1;
    config.num_decoder_layers = 2;
    config.d_ff = 4;
    config.norm_kind = "none";
    config.positions = "none";
    config.tied_embeddings = false;
    config.max_length = 4;
    model = make_model(config, v);
    for (const auto& parameter : model->named_parameters())
      if (parameter.key().find("linear") != std::string::npos) parameter.value().zero_();
    model->freeze();
    Inspection pass{.hidden_wanted = true};
    model->decode(torch::randint(v, {2000, 1}, torch::kInt64), {}, nullptr, &pass);
    // Around each token, so that the map must be right in every direction.
    streams = torch::stack({pass.hidden[0], pass.hidden[1]}, 2).squeeze(1);
    const torch::Tensor noise = torch::randn_like(streams.select(1, 0));
    const torch::Tensor in = model->named_parameters()["decoder.layers.1.self_attn.in_proj_weight"].slice(0, 24);
    const torch::Tensor out = model->named_parameters()["decoder.layers.1.self_attn.out_proj.weight"];
    streams.select(1, 0) += noise;
    streams.select(1, 1) += noise + noise.matmul(in.t()).matmul(out.t());
  }
};

TEST(TunedLens, OfALinearLayerIsExact) {
  const LinearLayers linear;
  const torch::Tensor held_out = linear.streams.slice(0, 1600);
  const TunedLens lens = fit_tuned_lens(*linear.model, linear.streams.slice(0, 0, 1600), {});
  const std::vector<double> before = lens_divergence(*linear.model, held_out, identity_lens(2, 12)),
                            after = lens_divergence(*linear.model, held_out, lens);
  EXPECT_GT(before[0], 0.05);
  EXPECT_LT(after[0], 0.01 * before[0]);
  EXPECT_EQ(before[1], 0) << "the output itself";
  EXPECT_EQ(after[1], 0);
}

TEST(TunedLens, IsNeverWorseThanTheLogitLens) {
  const LinearLayers linear;
  // Nothing to learn: the second layer adds nothing.
  torch::Tensor same = linear.streams.clone();
  same.select(1, 1).copy_(same.select(1, 0));
  const TunedLens lens = fit_tuned_lens(*linear.model, same, {});
  EXPECT_LE(lens_divergence(*linear.model, same, lens)[0], 1e-4);
  EXPECT_THROW(fit_tuned_lens(*linear.model, same,
                              [](double done) {
                                if (done > 0) throw std::runtime_error("canceled");
                              }),
               std::runtime_error);
}

class LensOfARun : public testing::Test {
 protected:
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("attnscope-lens-" + std::to_string(::getpid()));
  void TearDown() override { std::filesystem::remove_all(folder); }

  static bool fits(TorchEngine& engine, TunedLensResult& result) {
    bool fitted = false;
    result = engine.tuned_lens(*engine.watch(), [&](double done) { fitted = fitted || done > 0; });
    return fitted;
  }
};

TEST_F(LensOfARun, IsSavedAndReadsTheOutput) {
  TorchEngine engine;
  Config config = tiny_config();
  config.model.num_decoder_layers = 2;
  engine.reset(config, {});
  for (int step = 0; step < 5; ++step) engine.train_step({});
  engine.save_run(folder.string());
  TunedLensResult result;
  EXPECT_TRUE(fits(engine, result));
  ASSERT_EQ(result.problem, "");
  ASSERT_EQ(result.tuned_kl.size(), 6U) << "self-attention, cross-attention and the whole layer, twice";
  for (std::size_t row = 0; row < 5; ++row) {
    EXPECT_LE(result.tuned_kl[row], result.logit_kl[row]) << row;
  }
  EXPECT_LT(result.tuned_kl[0], 0.7 * result.logit_kl[0]);
  EXPECT_EQ(result.tuned_kl[5], 0);
  EXPECT_TRUE(std::filesystem::exists(RunFolder{folder}.tuned_lens()));

  std::shared_ptr<const Snapshot> plain, tuned;
  engine.probe({.text = "a b c", .decoding = true}, [&](auto latest) { plain = latest; }, {});
  engine.probe({.text = "a b c", .decoding = true, .tuned_lens = true}, [&](auto latest) { tuned = latest; }, {});
  EXPECT_FALSE(plain->decodings->lens_is_tuned);
  ASSERT_TRUE(tuned->decodings->lens_is_tuned);
  ASSERT_EQ(tuned->decodings->lens.size(), 6U);
  EXPECT_NE(tuned->decodings->lens[0].cells[0].chosen, plain->decodings->lens[0].cells[0].chosen);
  EXPECT_EQ(tuned->decodings->lens[5].cells[0].chosen, plain->decodings->lens[5].cells[0].chosen);

  Probe skipping{.text = "a b c", .decoding = true, .tuned_lens = true};
  skipping.interventions.layers_off = {{true, 0}};
  engine.probe(skipping, [&](auto latest) { tuned = latest; }, {});
  EXPECT_FALSE(tuned->decodings->lens_is_tuned) << "its rows are others";

  TunedLensResult again;
  EXPECT_FALSE(fits(engine, again)) << "read from its file";
  EXPECT_EQ(again.tuned_kl, result.tuned_kl);
  engine.train_step({});
  EXPECT_TRUE(fits(engine, again)) << "other weights";
}

TEST_F(LensOfARun, NeedsADecoder) {
  TorchEngine engine;
  Config config = tiny_config();
  config.model.architecture = "recurrent";
  engine.reset(config, {});
  TunedLensResult result;
  fits(engine, result);
  EXPECT_THAT(result.problem, HasSubstr("needs a decoder with a residual stream"));
}

}  // namespace
}  // namespace attnscope
