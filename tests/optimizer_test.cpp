// Loss, Adam and the schedules against torch's and by their formulas.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <memory>

#include "config/schedule.h"
#include "model/kernels/cross_entropy.h"
#include "training/adam.h"

namespace attnscope {
namespace {

TEST(Loss, ValueAndGradientAreTorchsCrossEntropy) {
  torch::manual_seed(1);
  const torch::Tensor targets = torch::tensor({3, 0, 5, 1, 0, 6}, torch::kInt64);
  for (const double smoothing : {0.0, 0.1, 0.5}) {
    torch::Tensor ours = (torch::randn({6, 7}) * 3).requires_grad_();
    torch::Tensor theirs = ours.detach().clone().requires_grad_();
    const torch::Tensor loss = kernels::smoothed_cross_entropy(ours, targets, smoothing, 0);
    const torch::Tensor expected = torch::nn::functional::cross_entropy(
        theirs, targets, torch::nn::functional::CrossEntropyFuncOptions().ignore_index(0).label_smoothing(smoothing));
    EXPECT_NEAR(loss.item<double>(), expected.item<double>(), 1e-5);
    (loss * 2).backward();
    (expected * 2).backward();
    EXPECT_LE((ours.grad() - theirs.grad()).abs().max().item<double>(), 1e-6);
  }
}

TEST(Loss, OfPaddingAloneIsZero) {
  torch::Tensor logits = torch::randn({2, 5}).requires_grad_();
  const torch::Tensor loss = kernels::smoothed_cross_entropy(logits, torch::zeros({2}, torch::kInt64), 0.1, 0);
  loss.backward();
  EXPECT_EQ(loss.item<double>(), 0);
  EXPECT_EQ(logits.grad().abs().max().item<double>(), 0);
}

// Two copies of one small network, and a loss that gives both the same gradients.
struct ContrastPairs {
  torch::nn::Linear ours{5, 4}, theirs{5, 4};

  ContrastPairs() {
    torch::NoGradGuard no_grad;
    theirs->weight.copy_(ours->weight);
    theirs->bias.copy_(ours->bias);
  }

  void train(Adam& adam, torch::optim::Optimizer& reference, double learning_rate, double weight_decay) {
    for (int i = 0; i < 20; ++i) {
      const torch::Tensor x = torch::randn({3, 5});
      adam.zero_gradients();
      reference.zero_grad();
      ours(x).pow(2).sum().backward();
      theirs(x).pow(2).sum().backward();
      adam.update(learning_rate, weight_decay);
      reference.step();
    }
  }

  double difference() const {
    return std::max((ours->weight - theirs->weight).abs().max().item<double>(),
                    (ours->bias - theirs->bias).abs().max().item<double>());
  }
};

TEST(Adam, FollowsTorchsAdam) {
  for (const double beta2 : {0.98, 0.9}) {
    torch::manual_seed(2);
    ContrastPairs contrasts;
    Adam adam(*contrasts.ours, beta2);
    torch::optim::Adam reference(contrasts.theirs->parameters(),
                                 torch::optim::AdamOptions(0.01).betas({0.9, beta2}).eps(1e-9));
    contrasts.train(adam, reference, 0.01, 0);
    EXPECT_LE(contrasts.difference(), 1e-6);
  }
}

TEST(Adam, DecaysMatricesAloneAsTorchsAdamW) {
  torch::manual_seed(2);
  ContrastPairs contrasts;
  Adam adam(*contrasts.ours, 0.95);
  torch::optim::AdamW reference(
      {torch::optim::OptimizerParamGroup({contrasts.theirs->weight}),
       torch::optim::OptimizerParamGroup(
           {contrasts.theirs->bias},
           std::make_unique<torch::optim::AdamWOptions>(
               torch::optim::AdamWOptions(0.01).betas({0.9, 0.95}).eps(1e-9).weight_decay(0)))},
      torch::optim::AdamWOptions(0.01).betas({0.9, 0.95}).eps(1e-9).weight_decay(0.5));
  contrasts.train(adam, reference, 0.01, 0.5);
  EXPECT_LE(contrasts.difference(), 1e-6);
}

// A gradient of ε's own size tells what ε is: m̂ / (√v̂ + ε) would be 1 without it.
TEST(Adam, EpsilonIsThePapers) {
  torch::nn::Linear layer(torch::nn::LinearOptions(1, 1).bias(false));
  Adam adam(*layer, 0.98);
  const double before = layer->weight.item<double>();
  layer->weight.mutable_grad().fill_(1e-8);
  adam.update(1, 0);
  EXPECT_NEAR(before - layer->weight.item<double>(), 1e-8 / (1e-8 + 1e-9), 1e-4);
}

TEST(Adam, GathersTheGradientsOfTwins) {
  torch::nn::Linear layer(1, 2), contrast(1, 2);
  Adam adam(*layer, 0.98);
  adam.share_with(*contrast);
  EXPECT_TRUE(torch::equal(layer->weight, contrast->weight));
  adam.zero_gradients();
  layer->weight.mutable_grad().fill_(1);
  contrast->weight.mutable_grad().fill_(2);
  layer->bias.mutable_grad().fill_(4);
  EXPECT_NEAR(adam.gather_gradients(), std::sqrt(50.0), 1e-5);
  EXPECT_EQ(layer->weight.grad()[0][0].item<float>(), 3);
  EXPECT_EQ(contrast->weight.grad()[0][0].item<float>(), 0);
  adam.update(0.1);
  EXPECT_TRUE(torch::equal(layer->weight, contrast->weight));
  EXPECT_EQ(layer->weight.grad().abs().max().item<float>(), 0);
}

// One update's direction does not depend on the gradient's length, its moments do.
TEST(Adam, ScalesTheGradient) {
  torch::nn::Linear layer(1, 2);
  Adam adam(*layer, 0.98);
  adam.zero_gradients();
  layer->weight.mutable_grad().fill_(3);
  adam.update(0.1, 0, 0.5);
  EXPECT_NEAR(adam.state().front().second[0][0].item<double>(), 0.1 * 3 * 0.5, 1e-6);
}

double noam(std::int64_t step, std::int64_t d_model, double factor) {
  TrainingConfig training;
  training.warmup_steps = 4000;
  training.noam_factor = factor;
  return learning_rate_at(training, d_model, step);
}

TEST(Schedule, NoamRisesToItsPeakAndFallsAsTheInverseRoot) {
  EXPECT_DOUBLE_EQ(noam(4000, 512, 1), std::pow(512.0, -0.5) * std::pow(4000.0, -0.5));
  EXPECT_DOUBLE_EQ(noam(1000, 512, 1), noam(4000, 512, 1) / 4);
  EXPECT_DOUBLE_EQ(noam(16000, 512, 1), noam(4000, 512, 1) / 2);
  EXPECT_DOUBLE_EQ(noam(10, 512, 3), 3 * noam(10, 512, 1));
}

TrainingConfig plain_schedule(const std::string& name) {
  TrainingConfig training;
  training.schedule = name;
  training.learning_rate = 0.8;
  training.min_learning_rate = 0.2;
  training.warmup_steps = 100;
  training.steps = 1100;
  return training;
}

TEST(Schedule, CosineFallsFromItsPeakToItsMinimumAndStaysThere) {
  TrainingConfig training = plain_schedule("cosine");
  const auto rate = [&](std::int64_t step) { return learning_rate_at(training, 64, step); };
  EXPECT_DOUBLE_EQ(rate(1), 0.008);
  EXPECT_DOUBLE_EQ(rate(50), 0.4);
  EXPECT_DOUBLE_EQ(rate(100), 0.8);
  EXPECT_NEAR(rate(350), 0.2 + 0.6 * (1 + std::sqrt(0.5)) / 2, 1e-12);
  EXPECT_NEAR(rate(600), 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(rate(1100), 0.2);
  EXPECT_DOUBLE_EQ(rate(5000), 0.2);
  training.steps = 60;  // all of it warm-up
  EXPECT_DOUBLE_EQ(rate(60), 0.48);
  EXPECT_DOUBLE_EQ(rate(101), 0.2);
}

TEST(Schedule, ConstantStaysAfterItsWarmUp) {
  const TrainingConfig training = plain_schedule("constant");
  EXPECT_DOUBLE_EQ(learning_rate_at(training, 64, 25), 0.2);
  EXPECT_DOUBLE_EQ(learning_rate_at(training, 64, 100), 0.8);
  EXPECT_DOUBLE_EQ(learning_rate_at(training, 64, 100000), 0.8);
}

}  // namespace
}  // namespace attnscope
