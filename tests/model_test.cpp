// A model's parameters, their names and initial values, and dropout.
#include <cmath>

#include "model_fixture.h"

namespace attnscope {
namespace {

std::vector<std::string> names(const ModelConfig& config) {
  return seeded_model(config)->named_parameters().keys();
}

ModelConfig config_with(const std::string& architecture, const std::string& positions, bool tied) {
  ModelConfig config = small_config();
  config.architecture = architecture;
  config.positions = positions;
  config.tied_embeddings = tied;
  return config;
}

TEST(Model, NamesAreThoseOfTorchTransformer) {
  const auto found = names(config_with("encoder-decoder", "sinusoidal", false));
  for (const char* name : {"encoder.layers.0.self_attn.in_proj_weight", "decoder.layers.1.multihead_attn.out_proj.bias",
                           "decoder.layers.1.norm3.weight", "encoder.norm.bias", "source_embedding.weight",
                           "target_embedding.weight", "output_weight"}) {
    EXPECT_THAT(found, testing::Contains(name));
  }
  EXPECT_EQ(found.size(), 2U * 12 + 2 * 18 + 4 + 3) << "sinusoids are no parameters";
}

TEST(Model, ALanguageModelHasNothingOfASource) {
  const auto found = names(config_with("decoder-only", "learned", false));
  EXPECT_THAT(
      found,
      testing::Each(testing::Not(testing::AnyOf(testing::StartsWith("encoder"), testing::StartsWith("source"),
                                                testing::HasSubstr("multihead_attn"), testing::HasSubstr("norm3")))));
  EXPECT_THAT(found, testing::IsSupersetOf({"embedding.weight", "output_weight", "target_positions",
                                            "decoder.layers.1.self_attn.in_proj_weight"}));
  EXPECT_EQ(found.size(), 2U * 12 + 2 + 3);
}

TEST(Model, PositionsHaveTheirParameters) {
  EXPECT_THAT(names(config_with("encoder-decoder", "learned", true)),
              testing::IsSupersetOf({"source_positions", "target_positions"}));
  EXPECT_THAT(names(config_with("encoder-decoder", "t5", true)),
              testing::IsSupersetOf({"encoder.position_scheme.relative_attention_bias",
                                     "decoder.position_scheme.relative_attention_bias"}));
  EXPECT_THAT(
      names(config_with("encoder-decoder", "shaw", true)),
      testing::IsSupersetOf({"encoder.layers.0.self_attn.relative_k", "decoder.layers.1.self_attn.relative_v"}));
  const auto without = names(config_with("encoder-decoder", "none", true));
  EXPECT_EQ(names(config_with("encoder-decoder", "rope", true)), without);
  EXPECT_EQ(names(config_with("encoder-decoder", "alibi", true)), without);
}

TEST(Model, TiedEmbeddingsAreOneMatrix) {
  const Model tied = seeded_model(config_with("encoder-decoder", "sinusoidal", true));
  const Model separate = seeded_model(config_with("encoder-decoder", "sinusoidal", false));
  std::int64_t difference_in_size = 0;
  for (const auto& parameter : separate->parameters()) difference_in_size += parameter.numel();
  for (const auto& parameter : tied->parameters()) difference_in_size -= parameter.numel();
  EXPECT_EQ(difference_in_size, 2 * small_vocab_size * 32);
  tied->logits(torch::randn({1, 1, 32})).sum().backward();
  EXPECT_GT(tied->named_parameters()["embedding.weight"].grad().abs().sum().item<double>(), 0);
}

// Uniform within ±√(6/(fan_in + fan_out)): its standard deviation is that by √3.
void expect_xavier(const torch::Tensor& weight, double fans, const char* name) {
  const double bound = std::sqrt(6.0 / fans);
  EXPECT_LE(weight.abs().max().item<double>(), bound * (1 + 1e-6)) << name;
  EXPECT_NEAR(weight.std().item<double>(), bound / std::sqrt(3.0), 0.02 * bound) << name;
}

ModelConfig starting(const std::string& initialization, const std::string& architecture = "encoder-decoder") {
  ModelConfig config = config_with(architecture, "learned", true);
  config.d_model = 128;
  config.initialization = initialization;
  return config;
}

TEST(Model, BeginsByXaviersRule) {
  torch::manual_seed(3);
  const auto parameters = make_model(starting("xavier"), 2000)->named_parameters();
  expect_xavier(parameters["encoder.layers.0.self_attn.in_proj_weight"], 3 * 128 + 128, "Q, K, V as one matrix");
  expect_xavier(parameters["decoder.layers.1.multihead_attn.in_proj_weight"], 3 * 128 + 128, "Q, K, V across");
  expect_xavier(parameters["encoder.layers.0.self_attn.out_proj.weight"], 128 + 128, "W_O");
  expect_xavier(parameters["embedding.weight"].slice(0, 1), 2000 + 128, "embeddings");
  EXPECT_EQ(parameters["embedding.weight"][0].abs().max().item<double>(), 0) << "padding";
  const torch::Tensor positions = parameters["source_positions"];
  expect_xavier(positions, static_cast<double>(positions.size(0)) + 128, "learned positions");
}

TEST(Model, BeginsWithVarianceOneAsBeforeVersion3) {
  torch::manual_seed(3);
  const auto parameters = make_model(starting("unit"), 2000)->named_parameters();
  expect_xavier(parameters["encoder.layers.0.self_attn.in_proj_weight"], 128 + 128, "Q, K, V a third each");
  for (const char* name : {"embedding.weight", "source_positions"})
    EXPECT_NEAR(parameters[name].std().item<double>(), std::sqrt(1.0 / 128), 0.002) << name;
}

TEST(Model, RecurrentNetworksBeginWithVarianceOne) {
  torch::manual_seed(3);
  const auto parameters = make_model(starting("xavier", "recurrent"), 2000)->named_parameters();
  EXPECT_NEAR(parameters["embedding.weight"].std().item<double>(), std::sqrt(1.0 / 128), 0.002);
}

// Learned positions are added as they are, or × √D to embeddings of variance 1.
TEST(Model, LearnedPositionsAreAddedAtTheScaleTheyBeganWith) {
  for (const auto& [initialization, scale] : {std::pair("xavier", 1.0), std::pair("unit", std::sqrt(128.0))}) {
    const Model model = seeded_model(starting(initialization));
    const torch::Tensor positions = model->named_parameters()["source_positions"].detach();
    EXPECT_LT(difference(model->positions().front().values, positions * scale), 1e-6) << initialization;
  }
}

// A seed is part of a run's configuration, so what it draws, and in which order, stays.
TEST(Model, ASeedGivesTheWeightsItAlwaysGave) {
  const auto expect_weights = [](bool tied, const std::vector<std::pair<const char*, double>>& last_values,
                                 double next) {
    torch::manual_seed(7);
    const Model model = make_model(
        {.num_decoder_layers = 2, .d_ff = 512, .initialization = "unit", .positions = "rope", .tied_embeddings = tied},
        2000);
    EXPECT_NEAR(torch::rand({1}).item<double>(), next, 1e-6) << "another number of draws";
    const auto parameters = model->named_parameters();
    for (const auto& [name, value] : last_values) {
      EXPECT_NEAR(parameters[name].flatten()[-1].item<double>(), value, 1e-6) << name;
    }
  };
  expect_weights(true,
                 {{"embedding.weight", -0.161104813},
                  {"encoder.layers.0.self_attn.in_proj_weight", 0.0967236012},
                  {"encoder.layers.1.linear2.weight", -0.0930470824},
                  {"decoder.layers.0.multihead_attn.out_proj.weight", -0.150680631},
                  {"decoder.layers.1.linear2.weight", -0.00561815454}},
                 0.514231384);
  expect_weights(false,
                 {{"source_embedding.weight", -0.161104813},
                  {"target_embedding.weight", -0.0113537665},
                  {"decoder.layers.1.linear2.weight", -0.00224844599},
                  {"output_weight", -0.0246622041}},
                 0.605679333);
}

TEST(Model, DropoutActsInTrainingOnlyAndCanBeChanged) {
  torch::NoGradGuard no_grad;
  const Model model = seeded_model(small_config());
  const torch::Tensor ids = random_ids(1, 8);
  const auto twice = [&](const auto& run) { return difference(run(), run()); };
  const auto encoded = [&] { return model->encode(ids, {}).states; };
  const Memory memory = model->encode(ids, {});
  const auto decoded = [&] { return model->decode(ids, memory); };
  model->train();
  EXPECT_GT(twice(encoded), 1e-3);
  EXPECT_GT(twice(decoded), 1e-3);
  model->set_dropout(0);
  EXPECT_EQ(twice(encoded), 0);
  EXPECT_EQ(twice(decoded), 0);
  model->set_dropout(0.5);
  model->eval();
  EXPECT_EQ(twice(encoded), 0);
  EXPECT_EQ(twice(decoded), 0);
}

}  // namespace
}  // namespace attnscope
