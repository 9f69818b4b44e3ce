// Dropout of the attention weights by itself: residuals and embeddings drop too, and would hide that it is missing.
#include <gmock/gmock.h>

#include <algorithm>

#include "model/attention.h"
#include "model/inspection.h"
#include "model_fixture.h"

namespace attnscope {
namespace {

constexpr std::int64_t num_keys = 8;  // as many as a head is wide

// Values are unit vectors and W_O is the identity: what comes out is the weights, H side by side.
class AttentionDropout : public testing::Test {
 protected:
  static constexpr double dropout = 0.25;

  AttentionDropout() {
    torch::NoGradGuard no_grad;
    auto parameters = attention->named_parameters();
    parameters["in_proj_weight"].slice(0, 2 * config().d_model).copy_(torch::eye(config().d_model));
    parameters["out_proj.weight"].copy_(torch::eye(config().d_model));
  }

  static ModelConfig config() {
    ModelConfig config = small_config();
    config.dropout = dropout;
    return config;
  }

  enum class To { itself, memory };

  torch::Tensor weights(To to) {
    torch::NoGradGuard no_grad;
    LayerInspection inspection(nullptr, false, 0, 0);
    return to == To::itself ? attention->attend_self(units, {}, {}, nullptr, inspection, AttentionPart::encoder)
                            : attention->attend_memory(units, units, {}, nullptr, inspection);
  }

  // Cells that are gone; fails unless all others are as many times the weight as keeps the mean.
  static std::int64_t dropped(const torch::Tensor& trained, const torch::Tensor& whole, double share) {
    const torch::Tensor kept = trained.ne(0);
    EXPECT_LE(difference(trained.masked_select(kept), whole.masked_select(kept) / (1 - share)), rounding);
    return kept.numel() - kept.sum().item<std::int64_t>();
  }

  torch::Tensor units = torch::eye(num_keys).repeat({1, config().num_heads}).unsqueeze(0);  // 1×K×D
  MultiHeadAttention attention{config(), false};
};

TEST_F(AttentionDropout, DropsSomeWeightsAndScalesTheOthersUp) {
  torch::manual_seed(1);
  for (const To to : {To::itself, To::memory}) {
    attention->eval();
    const torch::Tensor whole = weights(to);
    EXPECT_NEAR(whole.sum().item<double>(), static_cast<double>(num_keys * config().num_heads), 1e-4);
    attention->train();
    const auto expected = dropout * static_cast<double>(whole.numel());
    EXPECT_NEAR(static_cast<double>(dropped(weights(to), whole, dropout)), expected, expected / 2);
  }
}

TEST_F(AttentionDropout, FollowsItsSetting) {
  attention->eval();
  const torch::Tensor whole = weights(To::itself);
  attention->train();
  attention->set_dropout(0);
  EXPECT_EQ(dropped(weights(To::itself), whole, 0), 0);
  attention->set_dropout(0.75);
  EXPECT_GT(dropped(weights(To::itself), whole, 0.75), whole.numel() / 2);
}

}  // namespace
}  // namespace attnscope
