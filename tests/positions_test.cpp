// Every way of telling the order: known answers, and attention computed number by number from the papers' equations.
#include "model/positions.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "config/position_schemes.h"
#include "model/attention.h"
#include "model/kernels/attention.h"
#include "model/transformer.h"
#include "model_fixture.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::Pointwise;

std::vector<float> slopes(std::int64_t num_heads) {
  const torch::Tensor tensor = alibi_slopes(num_heads);
  return {tensor.data_ptr<float>(), tensor.data_ptr<float>() + tensor.numel()};
}

// ---- known answers

TEST(Sinusoids, AreThePapersFormula) {
  const torch::Tensor positions = sinusoidal_positions(1024, 16);
  for (const int position : {0, 1, 7, 49, 1023}) {
    for (int i = 0; i < 8; ++i) {
      const double angle = position / std::pow(10000.0, 2.0 * i / 16);
      EXPECT_NEAR(positions[position][2 * i].item<double>(), std::sin(angle), 1e-6);
      EXPECT_NEAR(positions[position][2 * i + 1].item<double>(), std::cos(angle), 1e-6);
    }
  }
}

TEST(Alibi, SlopesAreThePapers) {
  EXPECT_THAT(slopes(1), ElementsAre(1.0F / 256));
  EXPECT_THAT(slopes(3), ElementsAre(.0625F, .00390625F, .25F));
  EXPECT_THAT(slopes(6), ElementsAre(.25F, .0625F, .015625F, .00390625F, .5F, .125F));
  EXPECT_THAT(slopes(8),
              ElementsAre(1.0F / 2, 1.0F / 4, 1.0F / 8, 1.0F / 16, 1.0F / 32, 1.0F / 64, 1.0F / 128, 1.0F / 256));
  EXPECT_THAT(slopes(12),
              Pointwise(FloatEq(), std::vector<float>{.5F, .25F, .125F, .0625F, .03125F, .015625F, .0078125F,
                                                      .00390625F, .70710678F, .35355339F, .17677670F, .08838835F}));
}

std::int64_t t5_bucket(std::int64_t relative, bool bidirectional) {
  return t5_buckets(torch::tensor(relative, torch::kInt64), bidirectional).item<std::int64_t>();
}

TEST(T5, BucketsAtChosenDistances) {
  struct Expected {
    std::int64_t relative, bidirectional, causal;
  };
  const std::vector<Expected> table = {
      {0, 0, 0},      {-1, 1, 1},     {1, 17, 0},    {-7, 7, 7},    {7, 23, 0},     {-8, 8, 8},     {8, 24, 0},
      {-11, 8, 11},   {-12, 9, 12},   {-15, 9, 15},  {-16, 10, 16}, {16, 26, 0},    {-18, 10, 16},  {-19, 10, 17},
      {-22, 10, 18},  {-23, 11, 18},  {-31, 11, 21}, {-32, 12, 21}, {-45, 12, 23},  {-46, 13, 24},  {-63, 13, 26},
      {-64, 14, 26},  {64, 30, 0},    {-90, 14, 29}, {-91, 15, 29}, {-112, 15, 30}, {-113, 15, 31}, {-127, 15, 31},
      {-128, 15, 31}, {-200, 15, 31}, {127, 31, 0},  {200, 31, 0},
  };
  for (const auto& [relative, bidirectional, causal] : table) {
    EXPECT_EQ(t5_bucket(relative, true), bidirectional) << "key − query = " << relative;
    EXPECT_EQ(t5_bucket(relative, false), causal) << "key − query = " << relative;
  }
}

// The formula without logarithms: the share ln(r/e)/ln(128/e)·(n−e) reaches k where (r/e)^(n−e) reaches (128/e)^k. The
// right side is a power of two, and only powers of two come near it, whose powers a long double holds exactly.
std::int64_t exact_t5_bucket(std::int64_t relative, bool bidirectional) {
  const std::int64_t n = bidirectional ? 16 : 32;
  const std::int64_t e = n / 2;
  const std::int64_t r = bidirectional ? std::abs(relative) : std::max<std::int64_t>(-relative, 0);
  std::int64_t bucket = r;
  if (r >= e) {
    long double power = 1;
    for (std::int64_t i = 0; i < n - e; ++i) power *= static_cast<long double>(r) / static_cast<long double>(e);
    long double bound = 1;
    for (bucket = e; bucket < n - 1; ++bucket) {
      bound *= 128.0L / static_cast<long double>(e);
      if (power < bound) break;
    }
  }
  return bucket + (bidirectional && relative > 0 ? 16 : 0);
}

TEST(T5, BucketsAreTheFormulasAtEveryDistance) {
  const torch::Tensor relative = torch::arange(-1100, 1101);
  for (const bool bidirectional : {true, false}) {
    const torch::Tensor buckets = t5_buckets(relative, bidirectional);
    for (std::int64_t i = 0; i < relative.size(0); ++i) {
      ASSERT_EQ(buckets[i].item<std::int64_t>(), exact_t5_bucket(i - 1100, bidirectional))
          << "key − query = " << i - 1100;
    }
  }
}

// ---- RoPE

// Every dimension pair (2i, 2i+1) turned by position · 10000^(−2i/d) (2104.09864 eq. 15).
std::vector<double> rotated(std::vector<double> x, std::int64_t position) {
  const auto d = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); i += 2) {
    const double angle = static_cast<double>(position) * std::pow(10000.0, -static_cast<double>(i) / d);
    const double a = x[i], b = x[i + 1];
    x[i] = a * std::cos(angle) - b * std::sin(angle);
    x[i + 1] = a * std::sin(angle) + b * std::cos(angle);
  }
  return x;
}

std::vector<double> numbers(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.to(torch::kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

// x: B×L×(H·d), every head's pairs rotated.
torch::Tensor rotated_heads(const torch::Tensor& x, std::int64_t num_heads) {
  const std::int64_t width = x.size(2);
  return kernels::rotate_heads(x, num_heads, width, 1,
                               rope_rotations(x.size(1), rotary_angles({.d_model = width, .num_heads = num_heads})));
}

// ---- RoPE scaling: numbers of an independent implementation in float64

std::vector<double> frequencies(double theta, const char* scaling) {
  ModelConfig config{.d_model = 16, .num_heads = 1};
  config.positions = "rope";
  config.rope_theta = theta;
  config.rope_scaling = scaling;
  return rotary_angles(config).frequencies;
}

TEST(RopeScaling, HasTheFrequenciesOfThePapers) {
  const auto near = [](const std::vector<double>& got, const std::vector<double>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-12 * want[i]) << i;
  };
  near(frequencies(5e5, "llama3:8,1,4,64"),
       {1.0, 0.0794030091792082, 0.004700753866357992, 0.0009115830921521387, 0.00017677669529663688,
        3.428102195952591e-05, 6.647869871181235e-06, 1.2891731721515574e-06});
  near(frequencies(1e4, "yarn:4,1,8,64,1.1386294361119891"),
       {1.0, 0.23717082451262847, 0.05, 0.007905694150420948, 0.0025, 0.0007905694150420948, 0.00025,
        7.905694150420948e-05});
  const std::vector<double> plain = frequencies(1e4, "none"), linear = frequencies(1e4, "linear:4");
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_DOUBLE_EQ(linear[i], plain[i] / 4);
}

TEST(RopeScaling, OfYarnMakesCosAndSinLarger) {
  ModelConfig config{.d_model = 16, .num_heads = 1};
  config.rope_scaling = "yarn:4,1,8,64,1.5";
  EXPECT_FLOAT_EQ(rope_rotations(1, rotary_angles(config))[0][0].item<float>(), 1.5F);  // cos 0
}

TEST(RopeScaling, ThatIsNotKnownIsRefusedByName) {
  for (const char* text :
       {"", "dynamic:2", "linear", "linear:", "linear:0", "linear:2,3", "llama3:8", "yarn:4,1,8,64,x"})
    EXPECT_THROW(frequencies(1e4, text), ConfigError) << text;
}

TEST(RopeScaling, IsCheckedForEveryStack) {
  const auto complaint = [](const ModelConfig& model) -> std::string {
    Config config;
    config.model = model;
    config.model.positions = "rope";
    try {
      check(config);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint({.d_model = 12, .num_heads = 2}), "");
  EXPECT_EQ(complaint({.d_model = 12, .num_heads = 2, .num_decoder_heads = 4}),
            "model.num_decoder_heads is 4, allowed with rope: an even width d_model / num_decoder_heads, not 3");
  EXPECT_THAT(complaint({.d_model = 12, .num_heads = 4}), testing::StartsWith("model.num_heads is 4, allowed with"));
  EXPECT_THAT(complaint({.d_model = 8, .num_heads = 4, .rope_scaling = "dynamic:2,64"}),
              testing::HasSubstr("more than 2 rotated dimensions"));
  EXPECT_EQ(complaint({.d_model = 8, .num_heads = 2, .rope_scaling = "dynamic:2,64"}), "");
}

TEST(Rope, RotatesNeighbouringDimensions) {
  torch::manual_seed(2);
  const torch::Tensor x = torch::randn({6, 8});
  const torch::Tensor turned = rotated_heads(x.unsqueeze(0), 1).squeeze(0);
  for (std::int64_t position = 0; position < 6; ++position) {
    const std::vector<double> expected = rotated(numbers(x[position]), position);
    EXPECT_THAT(numbers(turned[position]), Pointwise(testing::DoubleNear(1e-6), expected)) << position;
  }
}

TEST(Rope, KeepsNormsAndTheFirstPosition) {
  torch::manual_seed(2);
  const torch::Tensor x = torch::randn({2, 50, 3 * 8});
  const torch::Tensor turned = rotated_heads(x, 3);
  EXPECT_TRUE(torch::equal(turned.select(1, 0), x.select(1, 0)));
  EXPECT_GT(difference(turned.select(1, 1), x.select(1, 1)), 0.1);
  const auto norms = [](const torch::Tensor& heads) { return heads.unflatten(-1, {3, 8}).norm(2, -1); };
  EXPECT_LE(difference(norms(turned), norms(x)), rounding);
}

TEST(Rope, DotProductsDependOnDistanceAlone) {
  torch::manual_seed(2);
  const auto at_every_position = [] { return rotated_heads(torch::randn({8}).repeat({1, 100, 1}), 1).squeeze(0); };
  const torch::Tensor q = at_every_position();
  const torch::Tensor k = at_every_position();
  const torch::Tensor products = q.matmul(k.t());  // query position × key position
  for (std::int64_t distance = -99; distance <= 99; ++distance) {
    const torch::Tensor same = products.diagonal(distance);
    EXPECT_LE((same.max() - same.min()).item<double>(), rounding) << distance;
  }
  EXPECT_GT(difference(products[50][49], products[50][51]), 1e-2) << "before and after are different distances";
}

// ---- attention number by number

constexpr std::int64_t num_heads = 4, d = 4, d_model = num_heads * d, length = 24, max_distance = 3;

// A bias or vector that a scheme adds in one attention.
struct LoggedEvent {
  std::function<double(std::int64_t head, std::int64_t key_minus_query)> bias = [](auto, auto) { return 0.0; };
  bool rotates = false;
  torch::Tensor a_k = torch::zeros({1, d}), a_v = torch::zeros({1, d});  // Shaw's, (2k+1)×d; here k = 0
};

using Numbers = std::vector<std::vector<double>>;  // L×d

Numbers rows_of(const torch::Tensor& matrix) {
  Numbers rows;
  for (const torch::Tensor& row : matrix.unbind(0)) rows.push_back(numbers(row));
  return rows;
}

// z_i = Σ_j α_ij (v_j + a^V_ij), α_i = softmax_j(scale · q_i · (k_j + a^K_ij) + bias), of one head.
Numbers head_by_hand(Numbers q, Numbers k, const Numbers& v, std::int64_t head, const LoggedEvent& told, double scale,
                     bool causal) {
  const Numbers a_k = rows_of(told.a_k), a_v = rows_of(told.a_v);
  const auto farthest = static_cast<std::int64_t>(a_k.size() / 2);
  const auto row = [&](std::int64_t relative) { return std::clamp(relative, -farthest, farthest) + farthest; };
  for (std::int64_t i = 0; told.rotates && i < length; ++i) {
    q[i] = rotated(q[i], i);
    k[i] = rotated(k[i], i);
  }
  Numbers z(length, std::vector<double>(d));
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t num_keys = causal ? i + 1 : length;
    std::vector<double> weights(num_keys);
    double sum = 0;
    for (std::int64_t j = 0; j < num_keys; ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < d; ++c) score += q[i][c] * (k[j][c] + a_k[row(j - i)][c]);
      sum += weights[j] = std::exp(score * scale + told.bias(head, j - i));
    }
    for (std::int64_t j = 0; j < num_keys; ++j) {
      for (std::int64_t c = 0; c < d; ++c) z[i][c] += weights[j] / sum * (v[j][c] + a_v[row(j - i)][c]);
    }
  }
  return z;
}

// x: L×D → L×D
torch::Tensor attention_by_hand(MultiHeadAttention& attention, const torch::Tensor& x, const LoggedEvent& told,
                                double scale, bool causal) {
  auto weights = attention->named_parameters();
  const torch::Tensor projected = torch::linear(x, weights["in_proj_weight"], weights["in_proj_bias"]);
  const auto part = [&](std::int64_t which, std::int64_t head) {  // L×d
    return rows_of(projected.slice(1, which * d_model + head * d, which * d_model + (head + 1) * d));
  };
  torch::Tensor heads = torch::zeros({length, d_model});
  for (std::int64_t h = 0; h < num_heads; ++h) {
    const Numbers z = head_by_hand(part(0, h), part(1, h), part(2, h), h, told, scale, causal);
    for (std::int64_t i = 0; i < length; ++i) {
      for (std::int64_t c = 0; c < d; ++c) heads[i][h * d + c] = z[i][c];
    }
  }
  return torch::linear(heads, weights["out_proj.weight"], weights["out_proj.bias"]);
}

struct Variant {
  std::string positions;
  bool causal, scaled;
};

class AttentionByHand : public testing::TestWithParam<Variant> {
 protected:
  torch::NoGradGuard no_grad;
  ModelConfig config;
  MultiHeadAttention attention{nullptr};
  StackPositions scheme{nullptr};

  void SetUp() override {
    torch::manual_seed(4);
    config.d_model = d_model;
    config.num_heads = num_heads;
    config.positions = GetParam().positions;
    config.scaled_attention = GetParam().scaled;
    config.max_distance = max_distance;
    attention = MultiHeadAttention(config, config.positions == "shaw");
    scheme = StackPositions(config, GetParam().causal);
    stir(*attention);
    stir(*scheme);
    attention->eval();
  }

  LoggedEvent told() {
    const std::string& positions = config.positions;
    LoggedEvent told;
    told.rotates = positions == "rope";
    if (positions == "alibi") {
      told.bias = [](std::int64_t head, std::int64_t relative) {
        return -std::pow(4.0, -static_cast<double>(head + 1)) * std::abs(static_cast<double>(relative));
      };
    } else if (positions == "t5") {
      told.bias = [table = scheme->named_parameters()["relative_attention_bias"], causal = GetParam().causal](
                      std::int64_t head, std::int64_t relative) {
        return table[exact_t5_bucket(relative, !causal)][head].item<double>();
      };
    } else if (positions == "shaw") {
      told.a_k = attention->named_parameters()["relative_k"];
      told.a_v = attention->named_parameters()["relative_v"];
    }
    return told;
  }
};

TEST_P(AttentionByHand, IsThePapersEquation) {
  const torch::Tensor x = torch::randn({2, length, d_model});
  AttentionMask mask;
  if (GetParam().causal) mask.look_ahead = look_ahead_mask(length, length, torch::kCPU);
  LayerInspection unseen(nullptr, false, 0, 0);
  const torch::Tensor output = attention->attend_self(x, mask, scheme->relative(length, length, torch::kCPU), nullptr,
                                                      unseen, AttentionPart::encoder);
  const double scale = GetParam().scaled ? 1 / std::sqrt(static_cast<double>(d)) : 1;
  for (std::int64_t row = 0; row < 2; ++row) {
    const torch::Tensor expected = attention_by_hand(attention, x[row], told(), scale, GetParam().causal);
    EXPECT_LE(difference(output[row], expected), rounding);
  }
}

TEST_P(AttentionByHand, DiffersIfNothingIsTold) {
  const PositionForm form = position_scheme(config.positions).form;
  const bool tells = form != PositionForm::none && form != PositionForm::added;
  const torch::Tensor x = torch::randn({length, d_model});
  const torch::Tensor with = attention_by_hand(attention, x, told(), 0.5, GetParam().causal);
  const torch::Tensor without = attention_by_hand(attention, x, {}, 0.5, GetParam().causal);
  EXPECT_EQ(difference(with, without) > 1e-3, tells) << "the comparison would not notice";
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const PositionScheme& scheme : position_schemes()) {
    for (const bool causal : {false, true}) {
      for (const bool scaled : {true, false}) all.push_back({std::string(scheme.name), causal, scaled});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(, AttentionByHand, testing::ValuesIn(variants()), [](const auto& variant) {
  const Variant& v = variant.param;
  std::string name = v.positions + (v.causal ? "_causal" : "_bidirectional") + (v.scaled ? "" : "_unscaled");
  std::ranges::replace(name, '-', '_');
  return name;
});

// ---- order

class Order : public testing::TestWithParam<PositionScheme> {
 protected:
  torch::NoGradGuard no_grad;

  Model model(const std::string& architecture) {
    ModelConfig config = small_config();
    config.architecture = architecture;
    config.positions = GetParam().name;
    config.num_encoder_layers = config.num_decoder_layers = 1;
    Model made = seeded_model(config);
    stir(*made);
    made->eval();
    return made;
  }

  // Nothing but the positions tells the order, so without them none can be seen.
  void expect_order_matters(const torch::Tensor& a, const torch::Tensor& b) {
    if (GetParam().form == PositionForm::none) {
      EXPECT_LE(difference(a, b), rounding);
    } else {
      EXPECT_GT(difference(a, b), 1e-2);
    }
  }
};

TEST_P(Order, OfTheSourceIsSeenByTheEncoder) {
  const Model encoder = model("encoder-decoder");
  const torch::Tensor ids = random_ids(1, 9);
  const torch::Tensor states = encoder->encode(ids, {}).states;
  // Not reversed: that leaves ALiBi's distances, which have no direction in the encoder, as they are.
  expect_order_matters(states, encoder->encode(ids.roll(1, 1), {}).states.roll(-1, 1));
}

TEST_P(Order, OfThePastIsSeenByTheLastToken) {
  const Model decoder = model("decoder-only");
  const torch::Tensor past = random_ids(1, 8), last = random_ids(1, 1);
  const auto features = [&](const torch::Tensor& before) {
    return decoder->decode(torch::cat({before, last}, 1), {}).select(1, -1);
  };
  expect_order_matters(features(past), features(past.flip(1)));
}

INSTANTIATE_TEST_SUITE_P(, Order, testing::ValuesIn(position_schemes()), [](const auto& scheme) {
  std::string name(scheme.param.name);
  std::ranges::replace(name, '-', '_');
  return name;
});

// ---- the table

TEST(PositionSchemes, WhatIsToldIsOfTheRowsForm) {
  ModelConfig config = small_config();
  for (const PositionScheme& scheme : position_schemes()) {
    config.positions = scheme.name;
    torch::nn::Module owner;
    const AddedPositions added = make_added_positions(owner, "positions", config);
    EXPECT_EQ(bool(added), scheme.form == PositionForm::added) << scheme.name;
    if (added) {
      EXPECT_EQ(added(2, config.max_length).size(0), config.max_length - 2) << scheme.name;
      EXPECT_THROW(added(2, config.max_length + 1), std::out_of_range) << scheme.name;
    }
    const RelativePositions told = StackPositions(config, true)->relative(6, 6, torch::kCPU);
    EXPECT_EQ(told.bias.defined(), scheme.form == PositionForm::bias) << scheme.name;
    EXPECT_EQ(told.rotations.defined(), scheme.form == PositionForm::rotation) << scheme.name;
    EXPECT_EQ(told.distances.defined(), scheme.form == PositionForm::vectors) << scheme.name;
    EXPECT_EQ(seeded_model(config)->positions().empty(), scheme.form == PositionForm::none) << scheme.name;
  }
  config.positions = "absolute";
  EXPECT_THROW(seeded_model(config), ConfigError);
  EXPECT_THROW(StackPositions(config, true), ConfigError);
}

TEST(PositionSchemes, WhatIsComputedFollowsTheModelAndIsNoParameter) {
  ModelConfig config = small_config();
  config.positions = "rope";
  StackPositions rope(config, true);
  EXPECT_TRUE(rope->parameters().empty());
  rope->to(torch::kFloat64);  // as it would from device to device
  EXPECT_EQ(rope->relative(6, 6, torch::kCPU).rotations.dtype(), torch::kFloat64);
}

// ---- tables to be looked at

TEST(PositionTensors, BiasByDistanceIsWhatIsAdded) {
  for (const PositionScheme& row : position_schemes()) {
    for (const bool causal : {false, true}) {
      if (row.form != PositionForm::bias) continue;
      ModelConfig config = small_config();
      config.positions = row.name;
      StackPositions scheme(config, causal);
      stir(*scheme);
      const torch::Tensor table = scheme->bias_by_distance(6, torch::kCPU);  // distances × heads
      ASSERT_EQ(table.sizes(), (torch::IntArrayRef{causal ? 6 : 11, 4}));
      const torch::Tensor bias = scheme->relative(6, 6, torch::kCPU).bias;
      for (std::int64_t query = 0; query < 6; ++query) {
        for (std::int64_t key = 0; key < (causal ? query + 1 : 6); ++key) {
          EXPECT_TRUE(table[key - query + 5].equal(bias.select(1, query).select(1, key)));
        }
      }
    }
  }
}

std::vector<std::string> table_names(const std::string& positions, const std::string& architecture) {
  ModelConfig config = small_config();
  config.positions = positions;
  config.architecture = architecture;
  std::vector<std::string> names;
  for (const PositionTensor& table : seeded_model(config)->positions()) names.push_back(table.name);
  return names;
}

TEST(PositionTensors, ThereIsOneForWhateverTellsTheOrder) {
  EXPECT_THAT(table_names("none", "encoder-decoder"), ElementsAre());
  EXPECT_THAT(table_names("sinusoidal", "encoder-decoder"), ElementsAre(""));
  EXPECT_THAT(table_names("learned", "encoder-decoder"), ElementsAre("source", "target"));
  EXPECT_THAT(table_names("learned", "decoder-only"), ElementsAre(""));
  EXPECT_THAT(table_names("rope", "encoder-decoder"), ElementsAre(""));
  EXPECT_THAT(table_names("t5", "encoder-decoder"), ElementsAre("encoder", "decoder"));
  EXPECT_THAT(table_names("alibi", "decoder-only"), ElementsAre("decoder"));
  EXPECT_THAT(table_names("shaw", "encoder-decoder"),
              ElementsAre("encoder, layer 1", "encoder, layer 2", "decoder, layer 1", "decoder, layer 2"));
}

}  // namespace
}  // namespace attnscope
