// Every fused operator against its composed twin, forward and backward. Not a test: built on demand,
//   ninja -C build kernels_benchmark && OMP_NUM_THREADS=1 build/bin/kernels_benchmark
#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <functional>
#include <optional>

#include "model/kernels/attention.h"
#include "model/kernels/backend.h"
#include "model/kernels/cells.h"
#include "model/kernels/cross_entropy.h"
#include "model/kernels/embedding.h"
#include "model/kernels/linear.h"
#include "model/kernels/norm.h"
#include "training/trainer.h"

namespace attnscope {
namespace {

constexpr std::int64_t batch_size = 64, length = 32, d_model = 128, num_heads = 4, d_ff = 512, vocab_size = 4000;

torch::Tensor parameter(std::vector<std::int64_t> sizes) {
  torch::Tensor made = torch::randn(sizes).mul_(0.1);
  made.requires_grad_(true);
  made.mutable_grad() = torch::zeros_like(made);
  return made;
}

torch::Tensor sequence(std::int64_t width) {
  return torch::randn({batch_size, length, width}).requires_grad_(true);
}

// Forward and backward of `made`, composed where the argument is 1.
void run(benchmark::State& state, const std::function<torch::Tensor()>& made) {
  at::set_num_threads(1);
  std::optional<kernels::Composed> composed;
  if (state.range(0) == 1) composed.emplace();
  for (auto _ : state) {
    torch::Tensor y = made();
    y.backward(torch::ones_like(y));
  }
}

void attention(benchmark::State& state) {
  kernels::AttentionInput input;
  input.queries = sequence(3 * d_model);
  input.num_heads = num_heads;
  input.scale = 0.2;
  input.dropout = 0.1;
  input.padding = torch::zeros({batch_size, length}, torch::kBool);
  run(state, [&] { return kernels::attend(input).heads; });
}
BENCHMARK(attention)->ArgName("composed")->Arg(0)->Arg(1);

void feed_forward(benchmark::State& state) {
  const torch::Tensor x = sequence(d_model), weight = parameter({d_ff, d_model}), bias = parameter({d_ff});
  run(state, [&] { return kernels::linear(x, weight, bias, {}, Activation::relu, 0.1); });
}
BENCHMARK(feed_forward)->ArgName("composed")->Arg(0)->Arg(1);

void norm(benchmark::State& state) {
  const torch::Tensor x = sequence(d_model), added = sequence(d_model);
  const torch::nn::LayerNorm norm(torch::nn::LayerNormOptions({d_model}));
  run(state, [&] { return kernels::add_and_norm(x, added, {norm->weight, norm->bias}, 0.1); });
}
BENCHMARK(norm)->ArgName("composed")->Arg(0)->Arg(1);

void embedding(benchmark::State& state) {
  const torch::Tensor ids = torch::randint(4, vocab_size, {batch_size, length}, torch::kInt64);
  const torch::Tensor table = parameter({vocab_size, d_model}), positions = torch::randn({length, d_model});
  run(state, [&] { return kernels::embed(ids, table, 11, positions, 0, 0.1); });
}
BENCHMARK(embedding)->ArgName("composed")->Arg(0)->Arg(1);

void cross_entropy(benchmark::State& state) {
  const torch::Tensor x = torch::randn({batch_size * length, d_model}).requires_grad_(true);
  const torch::Tensor weight = parameter({vocab_size, d_model});
  const torch::Tensor targets = torch::randint(4, vocab_size, {batch_size * length}, torch::kInt64);
  run(state, [&] { return kernels::projected_cross_entropy(x, weight, targets, 0.1, 0); });
}
BENCHMARK(cross_entropy)->ArgName("composed")->Arg(0)->Arg(1);

void whole_step(benchmark::State& state) {
  at::set_num_threads(1);
  std::optional<kernels::Composed> composed;
  if (state.range(0) == 1) composed.emplace();
  auto dataset = std::make_shared<Dataset>();
  for (std::int64_t i = 0; i < batch_size; ++i) {
    const torch::Tensor ids = torch::randint(4, vocab_size, {2 * length}, torch::kInt32);
    const auto* id = ids.data_ptr<int>();
    dataset->train.push_back({{id, id + length}, {id + length, id + 2 * length - 1}});
  }
  Config config;
  config.training.batch_size = batch_size;
  Trainer trainer(make_model(config.model, vocab_size), config, dataset);
  for (auto _ : state) trainer.step({});
}
BENCHMARK(whole_step)->ArgName("composed")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attnscope

BENCHMARK_MAIN();
