// Every fused operator is its composed twin: the same values, gradients and dropout, on every level of this processor.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>

#include "architectures_fixture.h"
#include "model/kernels/attention.h"
#include "model/kernels/backend.h"
#include "model/kernels/cells.h"
#include "model/kernels/cross_entropy.h"
#include "model/kernels/dropout.h"
#include "model/kernels/embedding.h"
#include "model/kernels/held_memory.h"
#include "model/kernels/linear.h"
#include "model/kernels/norm.h"
#include "model/kernels/precision.h"
#include "model/kernels/processor.h"
#include "model/kernels/product.h"
#include "common/signals.h"
#include "model/kernels/thread_pool.h"
#include "model/kernels/yielding.h"
#include "training/trainer.h"

namespace attnscope {
namespace {

using kernels::Level;

class Kernels : public testing::TestWithParam<Level> {
 protected:
  void SetUp() override {
    torch::manual_seed(1);
    kernels::hold_to(GetParam());
  }
  void TearDown() override { kernels::hold_to(kernels::levels().back()); }
};

torch::Tensor input(std::vector<std::int64_t> sizes) {
  return torch::randn(sizes).requires_grad_(true);
}

// `compute` fused and composed: the same result and the same gradients of a product with random numbers, to 1e-5 of the
// largest.
void expect_contrasts(const std::vector<torch::Tensor>& inputs, const std::function<torch::Tensor()>& compute) {
  torch::Tensor weights;
  const auto run = [&] {
    const kernels::DropoutScope dropout(3, 4, 0);
    for (const torch::Tensor& tensor : inputs) tensor.mutable_grad() = torch::Tensor();
    const torch::Tensor result = compute();
    if (!weights.defined()) weights = torch::randn(result.sizes());
    (result * weights).sum().backward();
    std::vector<torch::Tensor> all = {result.detach()};
    for (const torch::Tensor& tensor : inputs) all.push_back(tensor.grad().clone());
    return all;
  };
  const std::vector<torch::Tensor> fused = run();
  const kernels::Composed composed_from_here;
  const std::vector<torch::Tensor> composed = run();
  for (std::size_t i = 0; i < fused.size(); ++i) {
    EXPECT_LE(relative_difference(fused[i], composed[i]), rounding) << (i == 0 ? "result" : "gradient ") << i;
  }
}

TEST_P(Kernels, Linear) {
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu}) {
    for (const double p : {0.0, 0.3}) {
      const torch::Tensor x = input({3, 5, 20}), weight = input({30, 20}), bias = input({30});
      expect_contrasts({x, weight, bias}, [&] { return kernels::linear(x, weight, bias, {}, activation, p); });
      expect_contrasts({x, weight, bias}, [&] { return kernels::linear(x, weight, bias, {7, 19}, activation, p); });
      expect_contrasts({x, weight}, [&] { return kernels::linear(x, weight, {}, {10}, activation, p); });
      const torch::Tensor many = input({3, 50, 20});  // more than are masked at a time, which ends within a row
      expect_contrasts({many, weight, bias}, [&] { return kernels::linear(many, weight, bias, {}, activation, p); });
    }
  }
}

TEST_P(Kernels, LinearOfWhatIsNotContiguous) {
  const torch::Tensor x = input({4, 6, 8}), weight = input({5, 8});
  expect_contrasts({x, weight}, [&] { return kernels::linear(x.transpose(0, 1), weight, {}).transpose(0, 1); });
}

struct AttentionCase {
  std::int64_t queries, keys, num_heads, d;
  bool self, padding, look_ahead, bias;
  std::int64_t farthest;  // Shaw's k; 0: without his vectors
};

void expect_attention(const AttentionCase& c, double p) {
  const std::int64_t d_model = c.num_heads * c.d;
  kernels::AttentionInput attention;
  std::vector<torch::Tensor> inputs;
  const auto made = [&](std::vector<std::int64_t> sizes) { return inputs.emplace_back(input(std::move(sizes))); };
  attention.queries = made({3, c.queries, c.self ? 3 * d_model : d_model});
  if (!c.self) attention.memory = made({3, c.keys, 2 * d_model});
  attention.num_heads = c.num_heads;
  attention.scale = 0.3;
  attention.dropout = p;
  if (c.padding) attention.padding = growing_padding(3, c.keys);
  if (c.look_ahead) {
    attention.look_ahead = torch::ones({c.queries, c.keys}, torch::kBool).triu(c.keys - c.queries + 1);
  }
  if (c.bias) attention.bias = made({c.num_heads, c.queries, c.keys});
  if (c.farthest > 0) {
    attention.relative_k = made({2 * c.farthest + 1, c.d});
    attention.relative_v = made({2 * c.farthest + 1, c.d});
    const torch::Tensor keys = torch::arange(c.keys);
    const torch::Tensor queries = keys.slice(0, c.keys - c.queries).unsqueeze(1);
    attention.distances = (keys - queries).clamp(-c.farthest, c.farthest) + c.farthest;
  }
  expect_contrasts(inputs, [&] { return kernels::attend(attention).heads; });
  const kernels::Attended fused = kernels::attend(attention);
  const kernels::Composed composed_from_here;
  EXPECT_LE(difference(fused.weights, kernels::attend(attention).weights), 1e-6);
}

TEST_P(Kernels, Attention) {
  for (const double p : {0.0, 0.2}) {
    expect_attention({9, 9, 2, 8, true, false, false, false, 0}, p);
    expect_attention({17, 17, 3, 6, true, true, false, false, 0}, p);
    expect_attention({9, 9, 2, 16, true, true, true, true, 0}, p);
    expect_attention({33, 33, 1, 5, true, false, true, false, 2}, p);
    expect_attention({9, 9, 2, 8, true, true, false, false, 2}, p);
    expect_attention({4, 11, 2, 8, false, true, false, false, 0}, p);
    expect_attention({3, 11, 2, 8, false, false, true, true, 2}, p);
    expect_attention({1, 1, 2, 4, true, false, true, false, 2}, p);
    // Farther than any two are apart.
    expect_attention({9, 9, 2, 8, true, true, false, false, 16}, p);
    expect_attention({9, 9, 2, 8, true, false, true, false, 16}, p);
    expect_attention({3, 11, 2, 8, false, false, true, true, 16}, p);
    expect_attention({1, 1, 2, 4, true, false, false, false, 16}, p);
  }
}

TEST_P(Kernels, MaskedKeysHaveNoWeightAtAll) {
  kernels::AttentionInput attention;
  attention.queries = torch::randn({2, 7, 24});
  attention.num_heads = 2;
  attention.padding = growing_padding(2, 7);
  attention.look_ahead = torch::ones({7, 7}, torch::kBool).triu(1);
  const torch::Tensor weights = kernels::attend(attention).weights;
  EXPECT_EQ(weights.masked_select(attention.look_ahead.expand({2, 2, 7, 7})).abs().max().item<float>(), 0);
  EXPECT_EQ(weights[1].select(2, 6).abs().max().item<float>(), 0);
  EXPECT_LE(difference(weights.sum(3), torch::ones({2, 2, 7})), 1e-6);
}

TEST_P(Kernels, Rotation) {
  const torch::Tensor x = input({2, 5, 48}), rotations = torch::randn({5, 8});
  expect_contrasts({x}, [&] { return kernels::rotate_heads(x, 2, 16, 2, rotations); });
}

TEST_P(Kernels, Norms) {
  for (const std::int64_t width : {5, 64, 100}) {
    const torch::Tensor x = input({3, 4, width}), added = input({3, 4, width});
    const torch::nn::LayerNorm norm(torch::nn::LayerNormOptions({width}));
    torch::NoGradGuard no_grad;
    norm->weight.normal_();
    norm->bias.normal_();
    torch::AutoGradMode grad(true);
    for (const double p : {0.0, 0.4}) {
      expect_contrasts({x, added, norm->weight, norm->bias}, [&] {
        return kernels::add_and_norm(x, added, {norm->weight, norm->bias}, p);
      });
      expect_contrasts({x, added}, [&] { return kernels::add_dropped(x, added, p); });
    }
    expect_contrasts({x, norm->weight, norm->bias}, [&] { return kernels::layer_norm(x, {norm->weight, norm->bias}); });
  }
}

TEST_P(Kernels, Embedding) {
  const torch::Tensor ids = torch::tensor({{1, 2, 3, 0}, {3, 3, 0, 0}}, torch::kInt64);
  const torch::Tensor table = input({5, 24}), positions = input({4, 24});
  for (const double p : {0.0, 0.4}) {
    expect_contrasts({table, positions}, [&] { return kernels::embed(ids, table, 3, positions, 0, p); });
    expect_contrasts({table}, [&] { return kernels::embed(ids, table, 3, {}, 0, p); });
  }
  EXPECT_THROW(kernels::embed(ids + 2, table, 1, {}, 0, 0), c10::Error);
}

TEST_P(Kernels, CrossEntropy) {
  for (const std::int64_t rows : {40, 300}) {  // the weight as it is, and turned once for many rows
    const torch::Tensor features = input({rows, 12}), weight = input({50, 12});
    torch::Tensor targets = torch::randint(1, 50, {rows}, torch::kInt64);
    for (const double smoothing : {0.0, 0.1}) {
      expect_contrasts({features, weight},
                       [&] { return kernels::projected_cross_entropy(features, weight, targets, smoothing, 0); });
      targets.slice(0, 5, 30).fill_(0);
    }
    targets.zero_();
    EXPECT_EQ(kernels::projected_cross_entropy(features, weight, targets, 0.1, 0).item<float>(), 0);
  }
}

TEST_P(Kernels, Transpose) {
  for (const auto& [rows, columns, stride] :
       {std::tuple(1, 1, 1), {16, 16, 16}, {5, 33, 16}, {50, 40, 50}, {33, 7, 64}}) {
    const torch::Tensor x = torch::randn({rows, columns + 3});
    torch::Tensor y = torch::full({columns, stride}, NAN);
    kernels::loops().transpose(rows, columns, x.data_ptr<float>(), columns + 3, y.data_ptr<float>(), stride);
    const torch::Tensor expected = torch::nn::functional::pad(
        x.slice(1, 0, columns).t(), torch::nn::functional::PadFuncOptions({0, stride - rows}));
    EXPECT_TRUE(y.equal(expected)) << rows << "×" << columns << ", rows of " << stride;
  }
}

TEST_P(Kernels, Cells) {
  const torch::Tensor h = input({3, 7}), c = input({3, 7});
  torch::Tensor x = input({3, 28}), state = input({3, 28});
  expect_contrasts({x, state, c}, [&] {
    const kernels::LstmState next = kernels::lstm_step(x, state, c);
    return torch::cat({next.h, next.c}, 1);
  });
  x = input({3, 21});
  state = input({3, 21});
  expect_contrasts({x, state, h}, [&] { return kernels::gru_step(x, state, h); });
}

TEST_P(Kernels, ExtremeNumbersAreWhatTheFormulasSay) {
  const torch::Tensor x = torch::tensor({{-200.0F, -30.0F, -1e-4F, 0.0F, 1e-4F, 30.0F, 200.0F}});
  const torch::Tensor one = torch::eye(7);
  const torch::Tensor gelu = kernels::linear(x, one, {}, {}, Activation::gelu, 0);
  EXPECT_LE(difference(gelu, torch::gelu(x)), 1e-6);
  const kernels::LstmState state = kernels::lstm_step(x.repeat({1, 4}), torch::zeros({1, 28}), torch::zeros({1, 7}));
  EXPECT_LE(difference(state.c, torch::sigmoid(x) * torch::tanh(x)), 1e-6);
  const torch::Tensor nan = torch::full({1, 7}, NAN);
  EXPECT_TRUE(
      kernels::projected_cross_entropy(nan, one, torch::tensor({1}, torch::kInt64), 0.1, 0).isnan().item<bool>());
}

// ---- dropout

TEST_P(Kernels, DropoutKeepsItsShareAndTheMean) {
  constexpr std::int64_t n = 1'000'000;
  const kernels::DropoutScope scope(1, 2, 3);
  for (const double p : {0.1, 0.5}) {
    const torch::Tensor y = kernels::dropout(torch::ones({n}), p);
    const double dropped = y.eq(0).sum().item<double>() / n;
    EXPECT_NEAR(dropped, p, 4 * std::sqrt(p * (1 - p) / n));
    EXPECT_NEAR(y.mean().item<double>(), 1, 4 * std::sqrt(p / (1 - p) / n));
    // Neighbours, and neighbours a register, a block and a stream away, are dropped independently.
    const torch::Tensor zero = y.eq(0).to(torch::kFloat64) - p;
    for (const std::int64_t apart : {1, 16, 64, 128, 2048}) {
      const double correlation =
          (zero.slice(0, apart) * zero.slice(0, 0, n - apart)).mean().item<double>() / (p * (1 - p));
      EXPECT_NEAR(correlation, 0, 5 / std::sqrt(static_cast<double>(n))) << apart;
    }
  }
}

// One draw of 65536 keeps: a bound that is off by one would keep none, or twice as many.
TEST_P(Kernels, DropoutKeepsTheLastDraw) {
  constexpr std::int64_t n = 4'000'000;
  constexpr double kept = n / 65536.0;
  const kernels::DropoutScope scope(1, 2, 3);
  const torch::Tensor y = kernels::dropout(torch::ones({n}), 65535.0 / 65536);
  EXPECT_NEAR(y.gt(0).sum().item<double>(), kept, 4 * std::sqrt(kept));
  EXPECT_EQ(y.max().item<float>(), 65536);
}

TEST_P(Kernels, DropoutIsTheSameOnEveryLevel) {
  const auto mask = [] {
    const kernels::DropoutScope scope(5, 6, 0);
    return kernels::dropout(torch::ones({5000}), 0.3);
  };
  const torch::Tensor here = mask();
  kernels::hold_to(Level::baseline);
  EXPECT_TRUE(torch::equal(here, mask()));
}

TEST(Dropout, DependsOnSeedNumberPartAndPlace) {
  std::vector<torch::Tensor> masks;
  for (const auto& [seed, number, part] : {std::tuple(1, 1, 0), {2, 1, 0}, {1, 2, 0}, {1, 1, 1}}) {
    const kernels::DropoutScope scope(seed, number, part);
    masks.push_back(kernels::dropout(torch::ones({1000}), 0.5));
    masks.push_back(kernels::dropout(torch::ones({1000}), 0.5));
  }
  for (std::size_t i = 0; i < masks.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(torch::equal(masks[i], masks[j])) << i << ' ' << j;
  }
}

// ---- products

TEST_P(Kernels, ProductsEitherWayRound) {
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      const torch::Tensor a = torch::randn({5, 7}), b = torch::randn({7, 9});
      const torch::Tensor a_stored = a_transposed ? a.t().contiguous() : a;
      const torch::Tensor b_stored = b_transposed ? b.t().contiguous() : b;
      torch::Tensor c = torch::ones({5, 9});
      kernels::multiply(5, 9, 7, {a_stored.data_ptr<float>(), a_stored.size(1), a_transposed},
                        {b_stored.data_ptr<float>(), b_stored.size(1), b_transposed}, c.data_ptr<float>(), true);
      EXPECT_LE(difference(c, torch::matmul(a, b) + 1), 1e-5);
      kernels::multiply(5, 9, 7, {a_stored.data_ptr<float>(), a_stored.size(1), a_transposed},
                        {b_stored.data_ptr<float>(), b_stored.size(1), b_transposed}, c.data_ptr<float>(), false);
      EXPECT_LE(difference(c, torch::matmul(a, b)), 1e-5);
    }
  }
}

// blas_core_test tells OpenBLAS from outside which core it is to take this processor for.
TEST(Products, AreNotLeftToABlasThatDoesNotKnowTheProcessor) {
  const auto core = reinterpret_cast<const char* (*)()>(::dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  if (!core || std::ranges::count(kernels::levels(), Level::avx2) == 0) GTEST_SKIP() << "no OpenBLAS, or no AVX2";
  if (const char* const told = std::getenv("OPENBLAS_CORETYPE")) {
    ASSERT_STRCASEEQ(core(), told);
  }
  kernels::hold_to(Level::avx2);
  EXPECT_EQ(kernels::product_library(), std::string(core()) == "Prescott" ? "oneDNN" : "oneDNN and BLAS");
  kernels::hold_to(kernels::levels().back());
}

TEST(Products, AreNotedWhileTheBenchmarkWantsThem) {
  const std::vector<float> a(6, 1), b(12, 1);
  std::vector<float> c(8);
  const auto multiply = [&] { kernels::multiply(2, 4, 3, {a.data(), 3}, {b.data(), 4}, c.data(), false); };
  multiply();
  const kernels::NotedProducts noted;
  multiply();
  ASSERT_EQ(noted.shapes().size(), 1U);
  const auto& [rows, columns, depth, a_transposed, b_transposed, add] = noted.shapes().front();
  EXPECT_EQ(rows * 100 + columns * 10 + depth, 243);
  EXPECT_FALSE(a_transposed || b_transposed || add);
}

volatile std::sig_atomic_t signals_come = 0;

// A signal handler's frame once overwrote memory that a product still used, and the process crashed later.
TEST_P(Kernels, ProductsAreTheSameWhileSignalsCome) {
  const torch::Tensor a = torch::randn({700, 128}), b = torch::randn({256, 128});
  const auto product = [&] {
    torch::Tensor c = torch::empty({700, 256});
    kernels::multiply(700, 256, 128, {a.data_ptr<float>(), 128}, {b.data_ptr<float>(), 128, true}, c.data_ptr<float>(),
                      false);
    return c;
  };
  const torch::Tensor expected = product();
  const auto before = on_signal(SIGALRM, [](int) { signals_come = signals_come + 1; });
  signals_come = 0;
  const itimerval often{{0, 200}, {0, 200}}, never{};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  double worst = 0;
  for (int i = 0; signals_come < 300 && i < 100'000; ++i) worst = std::max(worst, difference(product(), expected));
  ::setitimer(ITIMER_REAL, &never, nullptr);
  std::signal(SIGALRM, before);
  EXPECT_LE(worst, 1e-3);  // a library may round as its threads share the work
  EXPECT_GE(signals_come, 300);
}

// What LibTorch rounds to bfloat16, summed in float32.
TEST_P(Kernels, ProductsOfBfloat16AreThoseOfTheRoundedNumbers) {
  const auto rounded = [](const torch::Tensor& x) { return x.to(torch::kBFloat16).to(torch::kFloat32); };
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      const torch::Tensor a = torch::randn({37, 70}), b = torch::randn({70, 53});
      const torch::Tensor a_stored = a_transposed ? a.t().contiguous() : a;
      const torch::Tensor b_stored = b_transposed ? b.t().contiguous() : b;
      torch::Tensor c = torch::ones({37, 53});
      const torch::Tensor product = torch::matmul(rounded(a), rounded(b));
      const auto multiply = [&](bool add) {
        kernels::multiply(37, 53, 70, {a_stored.data_ptr<float>(), a_stored.size(1), a_transposed},
                          {b_stored.data_ptr<float>(), b_stored.size(1), b_transposed}, c.data_ptr<float>(), add);
      };
      {
        const kernels::PrecisionScope scope(kernels::Precision::bfloat16, torch::kCPU);
        multiply(true);
        EXPECT_LE(difference(c, product + 1), 1e-4);
        multiply(false);
        EXPECT_LE(difference(c, product), 1e-4);
        const kernels::PrecisionScope exact(kernels::Precision::float32, torch::kCPU);
        multiply(false);
        EXPECT_LE(difference(c, torch::matmul(a, b)), 1e-4);
      }
      EXPECT_GT(difference(product, torch::matmul(a, b)), 1e-3) << "or nothing was told apart";
      multiply(false);
      EXPECT_LE(difference(c, torch::matmul(a, b)), 1e-4) << "after the scope";
    }
  }
}

TEST_P(Kernels, RoundingIsLibTorchs) {
  const float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
  const torch::Tensor x =
      torch::cat({torch::randn({2, 500}),
                  torch::tensor({{1.00390625F, 1.01171875F, -1.00390625F}, {infinity, -infinity, largest}}),
                  torch::tensor({{0.0F, -0.0F, 1e-40F}, {std::nanf(""), -std::nanf(""), 3.0F}})},
                 1);
  const torch::Tensor expected = x.to(torch::kBFloat16);
  torch::Tensor y = torch::empty_like(x);
  kernels::loops().round_to_bfloat16(2, x.size(1), x.size(1), x.data_ptr<float>(), y.data_ptr<float>());
  EXPECT_TRUE(torch::equal(torch::isnan(y), torch::isnan(x)));
  EXPECT_TRUE(torch::equal(torch::nan_to_num(y), torch::nan_to_num(expected.to(torch::kFloat32))));
  torch::Tensor packed = torch::empty({2, 503}, torch::kInt16);  // of the rows' first part: their stride is longer
  kernels::loops().pack_bfloat16(2, 503, x.size(1), x.data_ptr<float>(),
                                 reinterpret_cast<std::uint16_t*>(packed.data_ptr<std::int16_t>()));
  EXPECT_TRUE(torch::equal(packed, expected.slice(1, 0, 503).contiguous().view(torch::kInt16)));
}

// ---- whole models

// The gradient of every parameter of one batch.
std::vector<torch::Tensor> gradients_of(SequenceModel& model, bool composed,
                                        kernels::Precision precision = kernels::Precision::float32) {
  const kernels::DropoutScope dropout(1, 2, 0);
  std::optional<kernels::Composed> composing;
  if (composed) composing.emplace();
  const kernels::PrecisionScope scope(precision, torch::kCPU);
  return gradients_of_small_batch(model);
}

TEST_P(Kernels, EveryParameterOfEveryArchitectureHasTheComposedGradient) {
  for (const auto& [name, config] : every_architecture()) {
    const Model model = seeded_model(config);
    stir(*model);
    model->train();
    const auto fused = gradients_of(*model, false), composed = gradients_of(*model, true);
    const auto names = model->named_parameters().keys();
    const double largest = largest_of(composed);
    for (std::size_t i = 0; i < fused.size(); ++i) {
      EXPECT_LE(difference(fused[i], composed[i]), rounding * largest) << name << ' ' << names[i];
    }
  }
}

// Composed, as on a GPU, by LibTorch's autocast; fused by the products alone.
TEST_P(Kernels, InBfloat16EveryArchitectureHasNearlyTheSameGradient) {
  for (const auto& [name, config] : every_architecture()) {
    const Model model = seeded_model(config);
    stir(*model);
    model->train();
    const auto exact = gradients_of(*model, false);
    for (const bool composed : {false, true}) {
      const auto rounded = gradients_of(*model, composed, kernels::Precision::bfloat16);
      // All gradients together: rounding may open a ReLU whose input is almost 0, which changes a few of them.
      double apart = 0, length = 0;
      for (std::size_t i = 0; i < exact.size(); ++i) {
        apart += (rounded[i] - exact[i]).square().sum().item<double>();
        length += exact[i].square().sum().item<double>();
      }
      const double share = std::sqrt(apart / length);
      EXPECT_LE(share, 0.15) << name << (composed ? " composed" : " fused");
      EXPECT_GE(share, 1e-3) << name << (composed ? " composed" : " fused") << ": not rounded";
    }
  }
}

TEST_P(Kernels, WithoutItsPaddingABatchHasTheSameGradients) {
  for (auto [name, config] : every_architecture()) {
    config.dropout = 0;  // else it is drawn for other places
    const Model model = seeded_model(config);
    stir(*model);
    model->train();
    const auto padded = gradients_of(*model, false);
    model->set_packs(true);
    for (const bool recompute : {false, true}) {
      model->set_recompute(recompute);
      const auto packed = gradients_of(*model, false);
      for (std::size_t i = 0; i < padded.size(); ++i)
        EXPECT_LE(difference(padded[i], packed[i]), rounding * largest_of(padded)) << name << ' ' << i;
    }
  }
}

TEST_P(Kernels, PaddingIsComputedWhereItIsLookedAtAndInTrainingIsNot) {
  const Model model = seeded_model(small_config());
  model->set_packs(true);
  const torch::Tensor source = random_ids(4, 9), padding = growing_padding(4, 9);
  const torch::Tensor target_in = random_ids(4, 7);
  target_in.slice(0, 1, 3).slice(1, 5).fill_(0);
  const auto states = [&] { return model->encode(source, padding).states.sizes().vec(); };
  const auto features = [&] { return model->decode(target_in, model->encode(source, padding)).sizes().vec(); };
  using Sizes = std::vector<std::int64_t>;
  const std::int64_t d_model = small_config().d_model;
  model->train();
  EXPECT_EQ(states(), (Sizes{1, 36 - padding.sum().item<std::int64_t>(), d_model}));
  EXPECT_EQ(features(), (Sizes{1, 28 - 4, d_model}));
  target_in.select(1, 0).fill_(0);  // a target that starts with the piece that pads, as Marian's do
  EXPECT_EQ(features(), (Sizes{1, 28 - 4, d_model}));
  {
    const torch::NoGradGuard no_gradients;
    EXPECT_EQ(states(), (Sizes{4, 9, d_model}));
  }
  {
    const kernels::Composed composed;
    EXPECT_EQ(features(), (Sizes{4, 7, d_model}));
  }
  model->eval();
  EXPECT_EQ(features(), (Sizes{4, 7, d_model}));
}

// The dropout masks shown for the first sequence of a batch (model/dropout_places.h) are those it was trained with.
TEST_P(Kernels, TheFirstSequenceOfABatchDropsTheSameWithItsPaddingAndWithout) {
  ModelConfig config = small_config();
  config.dropout = 0.4;
  const Model model = seeded_model(config);
  model->train();
  // The first sequence is the shortest, and its weights alone would lie in shorter rows than the longest has.
  const torch::Tensor source = random_ids(4, 18), padding = growing_padding(4, 18).flip(0);
  const auto states = [&](bool packs) {
    model->set_packs(packs);
    const kernels::DropoutScope dropout(1, 2, 0);
    return model->encode(source, padding).states[0];
  };
  const torch::Tensor packed = states(true);
  const std::int64_t length = 18 - padding.select(0, 0).sum().item<std::int64_t>();
  EXPECT_LE(difference(packed.slice(0, 0, length), states(false).slice(0, 0, length)), 1e-5);
}

TEST_P(Kernels, RecomputedLayersHaveTheSameGradientsInLessMemory) {
  for (const auto& [name, config] : every_architecture()) {
    if (config.is_recurrent()) continue;
    for (const bool composed : {false, true}) {
      for (const auto precision : {kernels::Precision::float32, kernels::Precision::bfloat16}) {
        const Model model = seeded_model(config);
        stir(*model);
        model->train();
        const auto measured = [&] {
          const kernels::HeldMemory memory;
          auto gradients = gradients_of(*model, composed, precision);
          return std::pair(std::move(gradients), memory.peak());
        };
        measured();  // makes room for the gradients
        const auto [kept, all] = measured();
        model->set_recompute(true);
        const auto [recomputed, less] = measured();
        for (std::size_t i = 0; i < kept.size(); ++i)
          EXPECT_LE(difference(kept[i], recomputed[i]), rounding * largest_of(kept)) << name << ' ' << i;
        EXPECT_LT(less, all) << name;
        model->eval();
        const torch::NoGradGuard inspecting;
        EXPECT_NO_THROW(model->decode(random_ids(1, 4), config.is_language_model()
                                                            ? Memory()
                                                            : model->encode(random_ids(1, 5), torch::Tensor())));
      }
    }
  }
}

// Without a scope, and so on a GPU, dropout draws from the device's generator, which has to go back and forth.
TEST(Recompute, DrawsTheSameDropoutFromTheGenerator) {
  ModelConfig config = small_config();
  config.dropout = 0.5;
  const Model model = seeded_model(config);
  model->train();
  const torch::Tensor ids = random_ids(2, 6);
  const auto gradient = [&] {
    torch::manual_seed(9);
    model->zero_grad();
    model->loss(model->decode(ids, model->encode(ids, {})), ids, 0).backward();
    return std::pair(model->parameters().front().grad().clone(), torch::rand({1}).item<float>());
  };
  const auto [kept, next] = gradient();
  model->set_recompute(true);
  const auto [recomputed, next_then] = gradient();
  EXPECT_LE(difference(kept, recomputed), rounding * kept.abs().max().item<double>());
  EXPECT_EQ(next, next_then) << "what comes after draws what it would have drawn";
}

// Room for gradients is what Adam makes; what is added there is what autograd would have handed over.
TEST_P(Kernels, GradientsAddedInPlaceAreThoseHandedOver) {
  const Model model = seeded_model(small_config());
  model->train();
  const auto handed = gradients_of(*model, false);  // with room from here on
  const auto in_place = gradients_of(*model, false);
  for (std::size_t i = 0; i < handed.size(); ++i) EXPECT_LE(difference(handed[i], in_place[i]), 1e-6);
}

std::string name_of(const testing::TestParamInfo<Level>& info) {
  return std::string(kernels::level_name(info.param));
}

INSTANTIATE_TEST_SUITE_P(Levels, Kernels, testing::ValuesIn(kernels::levels()), name_of);

// ---- yielding

TEST(Yielding, StaysInItsYieldWhileHeld) {
  std::atomic<int> yields = 0;
  std::atomic<bool> past = false;
  kernels::hold_yielding(true);
  std::thread update([&] {
    const YieldCallback yield = [&] { ++yields; };
    const kernels::Yielding yielding(yield);
    kernels::yield_if_requested();
    past = true;
  });
  while (yields < 5) std::this_thread::yield();  // whoever waits for a look is answered meanwhile
  EXPECT_FALSE(past);
  kernels::yield_if_requested();  // this thread does not yield, so it is not stopped
  kernels::hold_yielding(false);
  update.join();
  EXPECT_TRUE(past);
}

// ---- the team

TEST(ThreadPool, DoesEveryPartOnce) {
  kernels::ThreadPool pool(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<int> done(7);
    pool.run(7, [&](int i) { ++done[i]; });
    EXPECT_EQ(done, std::vector<int>(7, 1));
  }
}

TEST(ThreadPool, TheFirstPartIsTheCallers) {
  kernels::ThreadPool pool(2);
  std::thread::id first;
  pool.run(2, [&](int i) {
    if (i == 0) first = std::this_thread::get_id();
  });
  EXPECT_EQ(first, std::this_thread::get_id());
}

TEST(ThreadPool, ThrowsTheFirstPartsErrorWhenAllAreDone) {
  kernels::ThreadPool pool(2);
  std::atomic<int> done = 0;
  const auto work = [&](int i) {
    ++done;
    if (i % 2 == 1) throw std::runtime_error("part " + std::to_string(i));
  };
  try {
    pool.run(4, work);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "part 1");
  }
  EXPECT_EQ(done, 4);
  pool.run(1, [&](int) { ++done; });
  EXPECT_EQ(done, 5);
}

TEST(ThreadPool, AskedFromWithinTheCallerDoesAllItself) {
  kernels::ThreadPool pool(2);
  std::atomic<int> inner = 0;
  pool.run(2, [&](int) { pool.run(3, [&](int) { ++inner; }); });
  EXPECT_EQ(inner, 6);
}

}  // namespace
}  // namespace attnscope
