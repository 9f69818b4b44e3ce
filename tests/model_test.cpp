// The model against torch::nn::Transformer carrying the same weights, and the properties that masks promise.
#include <gmock/gmock.h>
#include <torch/torch.h>

#include <cmath>

#include "model/model.h"
#include "model/positions.h"

namespace attnscope {
namespace {

constexpr double tolerance = 1e-5;

ModelConfig small_config(bool tied = true) {
  ModelConfig config;
  config.d_model = 32;
  config.num_heads = 4;
  config.d_ff = 64;
  config.tied_embeddings = tied;
  config.max_length = 40;
  return config;
}

Model seeded_model(const ModelConfig& config, std::uint64_t seed = 7) {
  torch::manual_seed(seed);
  return make_model(config, 50);
}

// B×L ids from 4 up, so that none is a special piece.
torch::Tensor random_ids(std::int64_t rows, std::int64_t length) {
  return torch::randint(4, 50, {rows, length}, torch::kInt64);
}

double difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

// PyTorch's own modules with our weights, and every bias and gain away from its initial 0 or 1.
torch::nn::Transformer peer_of(SequenceModel& model) {
  const ModelConfig& config = model.config();
  torch::nn::Transformer peer(torch::nn::TransformerOptions(config.d_model, config.num_heads)
                                  .num_encoder_layers(config.num_encoder_layers)
                                  .num_decoder_layers(config.num_decoder_layers)
                                  .dim_feedforward(config.d_ff)
                                  .dropout(config.dropout));
  torch::NoGradGuard no_grad;
  for (auto& item : model.named_parameters()) {
    if (item.value().dim() == 1) item.value().add_(torch::randn_like(item.value()) * 0.1);
  }
  auto ours = model.named_parameters();
  for (auto& item : peer->named_parameters()) item.value().copy_(ours[item.key()]);
  return peer;
}

class Parity : public testing::Test {
 protected:
  const Model model = seeded_model(small_config());
  torch::nn::Transformer peer = peer_of(*model);
  torch::Tensor source = random_ids(3, 9);
  torch::Tensor target = random_ids(3, 7);
  torch::Tensor source_padding = torch::zeros({3, 9}, torch::kBool);

  void SetUp() override {
    model->eval();
    peer->eval();
    source_padding.slice(1, 6).slice(0, 1, 2).fill_(true);
    source_padding.slice(1, 8).slice(0, 2, 3).fill_(true);
  }

  torch::Tensor embed(const torch::Tensor& ids) {
    const torch::Tensor weight = model->named_parameters()["embedding.weight"];
    return torch::embedding(weight, ids, 0) * std::sqrt(static_cast<double>(model->config().d_model)) +
           model->positions().front().values.slice(0, 0, ids.size(1));
  }

  torch::Tensor ours() {
    return model->decode(target, model->encode(source, source_padding));
  }

  torch::Tensor theirs() {  // sequence first
    const torch::Tensor causal = torch::full({7, 7}, -INFINITY).triu(1);
    return peer
        ->forward(embed(source).transpose(0, 1), embed(target).transpose(0, 1), {}, causal, {}, source_padding,
                  {}, source_padding)
        .transpose(0, 1);
  }
};

TEST_F(Parity, OutputsAgreeWithTorchTransformer) {
  torch::NoGradGuard no_grad;
  const torch::Tensor a = ours();
  EXPECT_GT(a.abs().mean().item<double>(), 0.1);
  EXPECT_LE(difference(a, theirs()), tolerance);
}

TEST_F(Parity, EveryGradientAgreesWithTorchTransformer) {
  const torch::Tensor direction = torch::randn({3, 7, 32});
  (ours() * direction).sum().backward();
  (theirs() * direction).sum().backward();
  const auto parameters = model->named_parameters();
  int compared = 0;
  for (const auto& item : peer->named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    const torch::Tensor expected = item.value().grad();
    const double scale = std::max(1.0, expected.abs().max().item<double>());
    EXPECT_LE(difference(parameters[item.key()].grad(), expected) / scale, tolerance) << item.key();
    ++compared;
  }
  EXPECT_EQ(compared, 2 * 12 + 2 * 18 + 4);
}

TEST(Model, NamesAreThoseOfTorchTransformer) {
  const Model model = seeded_model(small_config(false));
  const auto parameters = model->named_parameters();
  for (const char* name : {"encoder.layers.0.self_attn.in_proj_weight", "decoder.layers.1.multihead_attn.out_proj.bias",
                           "decoder.layers.1.norm3.weight", "encoder.norm.bias", "source_embedding.weight",
                           "target_embedding.weight", "output_weight"}) {
    EXPECT_TRUE(parameters.contains(name)) << name;
  }
}

TEST(Model, TiedEmbeddingsAreOneMatrix) {
  const Model tied = seeded_model(small_config(true));
  const Model separate = seeded_model(small_config(false));
  std::int64_t difference_in_size = 0;
  for (const auto& parameter : separate->parameters()) difference_in_size += parameter.numel();
  for (const auto& parameter : tied->parameters()) difference_in_size -= parameter.numel();
  EXPECT_EQ(difference_in_size, 2 * 50 * 32);
  tied->logits(torch::randn({1, 1, 32})).sum().backward();
  EXPECT_GT(tied->named_parameters()["embedding.weight"].grad().abs().sum().item<double>(), 0);
}

TEST(Model, WeightsSumToOneAndMaskedKeysGetNone) {
  torch::NoGradGuard no_grad;
  const Model model = seeded_model(small_config());
  model->eval();
  const torch::Tensor source = random_ids(2, 8);
  const torch::Tensor target = random_ids(2, 6);
  torch::Tensor padding = torch::zeros({2, 8}, torch::kBool);
  padding.slice(1, 5).slice(0, 1, 2).fill_(true);
  AttentionRecord record;
  model->decode(target, model->encode(source, padding, &record), nullptr, &record);
  const auto& [encoder, decoder, cross] = record;
  ASSERT_EQ(encoder.size(), 2U);
  ASSERT_EQ(decoder.size(), 2U);
  ASSERT_EQ(cross.size(), 2U);
  for (const auto* maps : {&encoder, &decoder, &cross}) {
    for (const torch::Tensor& map : *maps) {
      EXPECT_LE(difference(map.sum(-1), torch::ones_like(map.sum(-1))), 1e-6);
      EXPECT_GE(map.min().item<double>(), 0);
    }
  }
  EXPECT_EQ(encoder[0].sizes(), (torch::IntArrayRef{2, 4, 8, 8}));
  EXPECT_EQ(cross[1].sizes(), (torch::IntArrayRef{2, 4, 6, 8}));
  EXPECT_EQ(encoder[1][1].slice(2, 5).abs().max().item<double>(), 0);
  EXPECT_EQ(cross[0][1].slice(2, 5).abs().max().item<double>(), 0);
  EXPECT_EQ(decoder[0].triu(1).abs().max().item<double>(), 0);
}

TEST(Model, AChangedFutureTokenChangesNothingBefore) {
  torch::NoGradGuard no_grad;
  const Model model = seeded_model(small_config());
  model->eval();
  const Memory memory = model->encode(random_ids(1, 8), {});
  const torch::Tensor target = random_ids(1, 6);
  torch::Tensor changed = target.clone();
  changed[0][4] = (changed[0][4] + 1).remainder(46) + 4;
  const torch::Tensor a = model->decode(target, memory);
  const torch::Tensor b = model->decode(changed, memory);
  EXPECT_EQ(difference(a.slice(1, 0, 4), b.slice(1, 0, 4)), 0);
  EXPECT_GT(difference(a.slice(1, 4), b.slice(1, 4)), 1e-3);
}

TEST(Model, AChangedPaddingTokenChangesNothing) {
  torch::NoGradGuard no_grad;
  const Model model = seeded_model(small_config());
  model->eval();
  const torch::Tensor source = random_ids(1, 8);
  torch::Tensor changed = source.clone();
  changed.slice(1, 6).fill_(5);
  torch::Tensor padding = torch::zeros({1, 8}, torch::kBool);
  padding.slice(1, 6).fill_(true);
  const torch::Tensor target = random_ids(1, 6);
  const auto run = [&](const torch::Tensor& ids, const torch::Tensor& mask) {
    return model->decode(target, model->encode(ids, mask));
  };
  EXPECT_EQ(difference(run(source, padding), run(changed, padding)), 0);
  EXPECT_GT(difference(run(source, {}), run(changed, {})), 1e-3) << "without the mask it must matter";
  EXPECT_LE(difference(run(source, padding), run(source.slice(1, 0, 6), {})), tolerance) << "padding is as if absent";
}

TEST(Model, ARowOfABatchIsThatRowAlone) {
  torch::NoGradGuard no_grad;
  const Model model = seeded_model(small_config());
  model->eval();
  const torch::Tensor source = random_ids(4, 8);
  const torch::Tensor target = random_ids(4, 6);
  const torch::Tensor all = model->decode(target, model->encode(source, {}));
  const torch::Tensor one = model->decode(target.slice(0, 2, 3), model->encode(source.slice(0, 2, 3), {}));
  EXPECT_LE(difference(all.slice(0, 2, 3), one), tolerance);
}

TEST(Model, SinusoidalPositionsAreThePapersFormula) {
  const torch::Tensor positions = sinusoidal_positions(50, 16);
  for (const int position : {0, 1, 7, 49}) {
    for (int i = 0; i < 8; ++i) {
      const double angle = position / std::pow(10000.0, 2.0 * i / 16);
      EXPECT_NEAR(positions[position][2 * i].item<double>(), std::sin(angle), 1e-6);
      EXPECT_NEAR(positions[position][2 * i + 1].item<double>(), std::cos(angle), 1e-6);
    }
  }
}

TEST(Model, FusedProjectionStartsXavierByThirds) {
  const Model model = seeded_model({.d_model = 128, .num_heads = 4});
  const torch::Tensor weight = model->named_parameters()["encoder.layers.0.self_attn.in_proj_weight"];
  const double bound = std::sqrt(6.0 / (128 + 128));
  EXPECT_LE(weight.abs().max().item<double>(), bound);
  EXPECT_NEAR(weight.std().item<double>(), bound / std::sqrt(3.0), 0.01 * bound);
}

TEST(Model, DropoutActsInTrainingOnlyAndCanBeChanged) {
  torch::NoGradGuard no_grad;
  const Model model = seeded_model(small_config());
  const torch::Tensor source = random_ids(1, 8);
  model->train();
  const auto twice = [&] { return difference(model->encode(source, {}).states, model->encode(source, {}).states); };
  EXPECT_GT(twice(), 1e-3);
  model->set_dropout(0);
  EXPECT_EQ(twice(), 0);
  model->set_dropout(0.5);
  model->eval();
  EXPECT_EQ(twice(), 0);
}

}  // namespace
}  // namespace attnscope
