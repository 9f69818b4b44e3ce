// Our modules against torch::nn's that carry the same weights: outputs and every gradient.
#include <cmath>
#include <functional>

#include "model/attention.h"
#include "model/transformer.h"
#include "model_fixture.h"

namespace attnscope {
namespace {

// `ours` has them below `prefix`.
void copy_weights(torch::nn::Module& ours, torch::nn::Module& theirs, const std::string& prefix = "") {
  torch::NoGradGuard no_grad;
  auto weights = ours.named_parameters();
  for (auto& item : theirs.named_parameters()) item.value().copy_(weights[prefix + item.key()]);
}

void expect_same_gradients(torch::nn::Module& ours, torch::nn::Module& theirs, const std::string& prefix = "") {
  auto found = ours.named_parameters();
  for (const auto& item : theirs.named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_LE(relative_difference(found[prefix + item.key()].grad(), item.value().grad()), rounding) << item.key();
  }
}

torch::Tensor leaf(const torch::Tensor& values) {
  return values.detach().clone().requires_grad_();
}

// Sequence first, as torch::nn has it, or back.
torch::Tensor turned(const torch::Tensor& x) {
  return x.transpose(0, 1);
}

torch::Tensor causal_bias(std::int64_t length) {
  return torch::full({length, length}, -INFINITY).triu(1);
}

// ---- attention alone

void expect_attention_parity(const torch::Tensor& queries, const torch::Tensor& memory, const torch::Tensor& padding,
                             bool causal) {
  MultiHeadAttention ours(small_config(), false);
  stir(*ours);
  ours->eval();
  torch::nn::MultiheadAttention theirs(32, 4);
  copy_weights(*ours, *theirs);
  theirs->eval();
  const torch::Tensor x = leaf(queries), their_x = leaf(queries);
  const torch::Tensor y = memory.defined() ? leaf(memory) : x, their_y = memory.defined() ? leaf(memory) : their_x;

  const std::int64_t length = x.size(1);
  const AttentionMask mask = {padding, causal ? look_ahead_mask(length, length, torch::kCPU) : torch::Tensor(),
                              {}};
  Inspection inspection;
  LayerInspection kept(&inspection, true, 0, 0);
  const torch::Tensor output = memory.defined() ? ours->attend_memory(x, y, mask, nullptr, kept)
                                                : ours->attend_self(x, mask, {}, nullptr, kept, AttentionPart::cross);
  const auto [expected, weights] =
      theirs(turned(their_x), turned(their_y), turned(their_y), padding, true,
             causal ? causal_bias(length) : torch::Tensor(), /*average_attn_weights=*/false);
  EXPECT_LE(difference(output, turned(expected)), rounding);
  EXPECT_LE(difference(inspection.cross.at(0), weights), rounding);

  const torch::Tensor direction = torch::randn_like(output);
  (output * direction).sum().backward();
  (turned(expected) * direction).sum().backward();
  EXPECT_LE(relative_difference(x.grad(), their_x.grad()), rounding);
  EXPECT_LE(relative_difference(y.grad(), their_y.grad()), rounding);
  expect_same_gradients(*ours, *theirs);
}

TEST(AttentionParity, SelfAttention) {
  torch::manual_seed(1);
  const torch::Tensor x = torch::randn({3, 6, 32});
  expect_attention_parity(x, {}, {}, false);
  expect_attention_parity(x, {}, growing_padding(3, 6), false);
  expect_attention_parity(x, {}, {}, true);
  expect_attention_parity(x, {}, growing_padding(3, 6), true);
}

TEST(AttentionParity, CrossAttention) {
  torch::manual_seed(1);
  const torch::Tensor x = torch::randn({3, 6, 32});
  const torch::Tensor memory = torch::randn({3, 9, 32});
  expect_attention_parity(x, memory, {}, false);
  expect_attention_parity(x, memory, growing_padding(3, 9), false);
}

// ---- one layer

// LibTorch's C++ layers know post-norm alone, so the pre-norm one is put together from its modules, as Python's
// norm_first does it. Sequence first.
class PreNormLayer : public torch::nn::Module {
 public:
  PreNormLayer(const ModelConfig& config, bool cross_attention)
      : gelu_(config.activation == "gelu"),
        self_attn_(register_module("self_attn", torch::nn::MultiheadAttention(config.d_model, config.num_heads))),
        linear1_(register_module("linear1", torch::nn::Linear(config.d_model, config.d_ff))),
        linear2_(register_module("linear2", torch::nn::Linear(config.d_ff, config.d_model))) {
    if (cross_attention) {
      multihead_attn_ =
          register_module("multihead_attn", torch::nn::MultiheadAttention(config.d_model, config.num_heads));
    }
    for (int i = 0; i < (cross_attention ? 3 : 2); ++i) {
      const torch::nn::LayerNormOptions options({config.d_model});
      norms_.push_back(register_module("norm" + std::to_string(i + 1), torch::nn::LayerNorm(options)));
    }
  }

  torch::Tensor forward(torch::Tensor x, const torch::Tensor& memory, const torch::Tensor& bias,
                        const torch::Tensor& padding, const torch::Tensor& memory_padding) {
    torch::Tensor y = norms_.front()(x);
    x = x + std::get<0>(self_attn_(y, y, y, padding, false, bias));
    if (multihead_attn_) {
      x = x + std::get<0>(multihead_attn_(norms_[1](x), memory, memory, memory_padding, false));
    }
    y = linear1_(norms_.back()(x));
    return x + linear2_(gelu_ ? torch::gelu(y) : torch::relu(y));
  }

 private:
  bool gelu_;
  torch::nn::MultiheadAttention self_attn_, multihead_attn_{nullptr};
  torch::nn::Linear linear1_, linear2_;
  std::vector<torch::nn::LayerNorm> norms_;
};

struct LayerInputs {
  torch::Tensor memory = {};  // undefined: no cross-attention
  torch::Tensor padding = {}, memory_padding = {};
  bool causal = false;
};

struct PeerLayer {
  std::shared_ptr<torch::nn::Module> module;
  std::function<torch::Tensor(const torch::Tensor& x)> forward;  // sequence first
};

template <typename Options>
Options layer_options(const ModelConfig& config) {
  Options options(config.d_model, config.num_heads);
  options.dim_feedforward(config.d_ff);
  if (config.activation == "gelu") options.activation(torch::kGELU);
  return options;
}

PeerLayer peer_layer(const ModelConfig& config, const LayerInputs& inputs) {
  const torch::Tensor memory = inputs.memory.defined() ? turned(inputs.memory) : torch::Tensor();
  const auto bias = [=](const torch::Tensor& x) { return inputs.causal ? causal_bias(x.size(0)) : torch::Tensor(); };
  if (config.norm == "pre") {
    const auto layer = std::make_shared<PreNormLayer>(config, memory.defined());
    return {layer, [=](const torch::Tensor& x) {
              return layer->forward(x, memory, bias(x), inputs.padding, inputs.memory_padding);
            }};
  }
  if (!memory.defined()) {
    torch::nn::TransformerEncoderLayer layer(layer_options<torch::nn::TransformerEncoderLayerOptions>(config));
    return {layer.ptr(), [=](const torch::Tensor& x) mutable { return layer(x, bias(x), inputs.padding); }};
  }
  torch::nn::TransformerDecoderLayer layer(layer_options<torch::nn::TransformerDecoderLayerOptions>(config));
  return {layer.ptr(), [=](const torch::Tensor& x) mutable {
            return layer(x, memory, bias(x), torch::Tensor(), inputs.padding, inputs.memory_padding);
          }};
}

class LayerParity : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  ModelConfig config() const {
    ModelConfig config = small_config();
    config.positions = "sinusoidal";  // torch::nn's layers are told nothing of distances
    config.norm = std::get<0>(GetParam());
    config.activation = std::get<1>(GetParam());
    return config;
  }

  void expect_parity(LayerInputs inputs) const {
    Layer ours(config(), inputs.memory.defined());
    stir(*ours);
    ours->eval();
    const torch::Tensor values = torch::randn({3, 6, 32});
    const torch::Tensor x = leaf(values), their_x = leaf(values);
    LayerContext context;
    context.self_mask.padding = inputs.padding;
    if (inputs.causal) context.self_mask.look_ahead = look_ahead_mask(6, 6, torch::kCPU);
    context.memory_mask.padding = inputs.memory_padding;
    if (inputs.memory.defined()) context.memory = inputs.memory = leaf(inputs.memory);
    LayerInspection unseen(nullptr, false, 0, 0);
    const torch::Tensor output = ours->forward(x, context, nullptr, nullptr, unseen);

    const torch::Tensor their_memory = inputs.memory.defined() ? leaf(inputs.memory) : inputs.memory;
    inputs.memory = their_memory;
    const PeerLayer theirs = peer_layer(config(), inputs);
    copy_weights(*ours, *theirs.module);
    theirs.module->eval();
    const torch::Tensor expected = turned(theirs.forward(turned(their_x)));
    EXPECT_LE(difference(output, expected), rounding);

    const torch::Tensor direction = torch::randn_like(output);
    (output * direction).sum().backward();
    (expected * direction).sum().backward();
    EXPECT_LE(relative_difference(x.grad(), their_x.grad()), rounding);
    if (their_memory.defined()) {
      EXPECT_LE(relative_difference(context.memory.grad(), their_memory.grad()), rounding);
    }
    EXPECT_EQ(ours->named_parameters().size(), theirs.module->named_parameters().size());
    expect_same_gradients(*ours, *theirs.module);
  }
};

TEST_P(LayerParity, WithoutCrossAttention) {
  torch::manual_seed(1);
  expect_parity({.padding = growing_padding(3, 6)});
  expect_parity({.causal = true});
}

TEST_P(LayerParity, WithCrossAttention) {
  torch::manual_seed(1);
  expect_parity({.memory = torch::randn({3, 9, 32}), .memory_padding = growing_padding(3, 9), .causal = true});
}

INSTANTIATE_TEST_SUITE_P(, LayerParity,
                         testing::Combine(testing::Values("post", "pre"), testing::Values("relu", "gelu")),
                         [](const auto& variant) {
                           return std::string(std::get<0>(variant.param)) + "_" + std::get<1>(variant.param);
                         });

// ---- whole models

torch::nn::Embedding peer_embedding(SequenceModel& model, const std::string& name) {
  torch::nn::Embedding embedding(torch::nn::EmbeddingOptions(small_vocab_size, model.config().d_model).padding_idx(0));
  torch::NoGradGuard no_grad;
  embedding->weight.copy_(model.named_parameters()[name]);
  return embedding;
}

class TransformerParity : public testing::TestWithParam<bool> {
 protected:
  const bool tied = GetParam();
  Model model;
  torch::nn::Transformer theirs{nullptr};
  torch::nn::Embedding source_embedding{nullptr}, target_embedding{nullptr};  // one and the same when tied
  torch::Tensor output_weight;
  torch::Tensor source, source_padding, target;

  void SetUp() override {
    ModelConfig config = small_config();
    config.tied_embeddings = tied;
    config.positions = "sinusoidal";
    model = seeded_model(config);
    stir(*model);
    model->eval();
    theirs = torch::nn::Transformer(torch::nn::TransformerOptions(config.d_model, config.num_heads)
                                        .num_encoder_layers(config.num_encoder_layers)
                                        .num_decoder_layers(config.num_decoder_layers)
                                        .dim_feedforward(config.d_ff));
    copy_weights(*model, *theirs);
    theirs->eval();
    source_embedding = peer_embedding(*model, tied ? "embedding.weight" : "source_embedding.weight");
    target_embedding = tied ? source_embedding : peer_embedding(*model, "target_embedding.weight");
    output_weight = tied ? source_embedding->weight : leaf(model->named_parameters()["output_weight"]);
    source_padding = growing_padding(3, 9);
    source = random_ids(3, 9).masked_fill(source_padding, 0);
    target = random_ids(3, 7).masked_fill(growing_padding(3, 7), 0);
  }

  torch::Tensor our_logits() { return model->logits(model->decode(target, model->encode(source, source_padding))); }

  torch::Tensor embed(torch::nn::Embedding& embedding, const torch::Tensor& ids) {
    const torch::Tensor positions = sinusoidal_positions(ids.size(1), 32);
    return turned(embedding(ids) * std::sqrt(32.0) + positions);
  }

  torch::Tensor their_logits() {
    const torch::Tensor features =
        theirs(embed(source_embedding, source), embed(target_embedding, target), torch::Tensor(), causal_bias(7),
               torch::Tensor(), source_padding, torch::Tensor(), source_padding);
    return torch::linear(turned(features), output_weight);
  }
};

TEST_P(TransformerParity, LogitsAgreeWithTorchTransformer) {
  torch::NoGradGuard no_grad;
  const torch::Tensor logits = our_logits();
  EXPECT_GT(logits.abs().mean().item<double>(), 0.1);
  EXPECT_LE(difference(logits, their_logits()), rounding);
}

TEST_P(TransformerParity, EveryGradientAgreesWithTorchTransformer) {
  const torch::Tensor direction = torch::randn({3, 7, small_vocab_size});
  (our_logits() * direction).sum().backward();
  (their_logits() * direction).sum().backward();
  ASSERT_EQ(theirs->named_parameters().size(), 2U * 12 + 2 * 18 + 4);
  expect_same_gradients(*model, *theirs);
  const auto gradient = [&](const char* name) { return model->named_parameters()[name].grad(); };
  if (tied) {
    EXPECT_LE(relative_difference(gradient("embedding.weight"), source_embedding->weight.grad()), rounding);
  } else {
    EXPECT_LE(relative_difference(gradient("source_embedding.weight"), source_embedding->weight.grad()), rounding);
    EXPECT_LE(relative_difference(gradient("target_embedding.weight"), target_embedding->weight.grad()), rounding);
    EXPECT_LE(relative_difference(gradient("output_weight"), output_weight.grad()), rounding);
  }
}

INSTANTIATE_TEST_SUITE_P(, TransformerParity, testing::Bool(),
                         [](const auto& variant) { return variant.param ? "tied" : "separate"; });

// A language model's layers are torch::nn's encoder layers behind a causal mask.
TEST(LanguageModelParity, LogitsAndEveryGradientAgreeWithTorchTransformerEncoder) {
  ModelConfig config = small_config();
  config.architecture = "decoder-only";
  config.activation = "gelu";
  config.positions = "learned";
  const Model model = seeded_model(config);
  stir(*model);
  model->eval();
  torch::nn::TransformerEncoder theirs(
      torch::nn::TransformerEncoderOptions(
          torch::nn::TransformerEncoderLayer(layer_options<torch::nn::TransformerEncoderLayerOptions>(config)),
          config.num_decoder_layers)
          .norm(torch::nn::AnyModule(torch::nn::LayerNorm(torch::nn::LayerNormOptions({config.d_model})))));
  copy_weights(*model, *theirs, "decoder.");
  theirs->eval();
  torch::nn::Embedding embedding = peer_embedding(*model, "embedding.weight");
  const torch::Tensor positions = leaf(model->named_parameters()["target_positions"]);

  const torch::Tensor ids = random_ids(3, 7);
  const torch::Tensor logits = model->logits(model->decode(ids, {}));
  const torch::Tensor embedded = embedding(ids) * std::sqrt(32.0) + positions.slice(0, 0, 7);
  const torch::Tensor expected = torch::linear(turned(theirs(turned(embedded), causal_bias(7))), embedding->weight);
  EXPECT_LE(difference(logits, expected), rounding);

  const torch::Tensor direction = torch::randn_like(logits);
  (logits * direction).sum().backward();
  (expected * direction).sum().backward();
  EXPECT_EQ(model->named_parameters().size(), theirs->named_parameters().size() + 2);
  expect_same_gradients(*model, *theirs, "decoder.");
  auto parameters = model->named_parameters();
  EXPECT_LE(relative_difference(parameters["embedding.weight"].grad(), embedding->weight.grad()), rounding);
  EXPECT_LE(relative_difference(parameters["target_positions"].grad(), positions.grad()), rounding);
}

}  // namespace
}  // namespace attnscope
