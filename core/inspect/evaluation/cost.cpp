#include "inspect/evaluation/cost.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <time.h>
#include <torch/nn/modules/conv.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "model/attention.h"
#include "model/cells.h"
#include "common/mark.h"
#include "model/kernels/held_memory.h"
#include "model/kernels/libtorch.h"

namespace attnscope {
namespace {

using CostClock = std::chrono::steady_clock;

constexpr int cost_rounds = 5;
constexpr double enough_ms = 300;  // per point: slow measurements need no more rounds

double ms_since(CostClock::time_point begin) {
  return std::chrono::duration<double, std::milli>(CostClock::now() - begin).count();
}

// Total processor time of this thread.
double processor_ms() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

// Time spent measuring, in ms.
struct Spent {
  double all = 0, processor = 0;
  double share() const { return all > 0 ? std::min(1.0, processor / all) : 1; }
};

double middle_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// One layer: x (1×L×D) → 1×L×D.
using Pass = std::function<torch::Tensor(const torch::Tensor& x)>;

Pass make_layer(CostLayer layer, const ModelConfig& config) {
  const std::int64_t d = config.d_model;
  switch (layer) {
    case CostLayer::self_attention:
      return [attention = MultiHeadAttention(config, false)](const torch::Tensor& x) mutable {
        LayerInspection unseen(nullptr, false, 0, 0);
        return attention->attend_self(x, {}, {}, nullptr, unseen, AttentionPart::encoder);
      };
    case CostLayer::recurrent:
      return [stack = RecurrentStack(cell_kind(config.cell), d, d, 1, false)](const torch::Tensor& x) mutable {
        std::vector<CellState> states = stack->initial_states(1);
        return stack->forward(x.transpose(0, 1), {}, states, 0).transpose(0, 1);
      };
    case CostLayer::convolution: {
      const auto options = torch::nn::Conv1dOptions(d, d, cost_kernel).padding(cost_kernel / 2);
      return [conv = torch::nn::Conv1d(options)](const torch::Tensor& x) mutable {
        return conv->forward(x.transpose(1, 2)).transpose(1, 2);
      };
    }
  }
  return {};
}

CostPoint measure(const Pass& pass, std::int64_t length, std::int64_t width, Spent& spent) {
  const torch::Tensor x = torch::randn({1, length, width}).requires_grad_();
  std::vector<double> forward, backward;
  CostPoint point{.length = length};
  const CostClock::time_point first = CostClock::now();
  const double had = processor_ms();
  for (int round = 0; round <= cost_rounds; ++round) {
    x.mutable_grad() = torch::Tensor();
    const kernels::HeldMemory held;
    CostClock::time_point begin = CostClock::now();
    const torch::Tensor y = pass(x);
    const double forward_ms = ms_since(begin);
    begin = CostClock::now();
    y.sum().backward();
    if (round > 0 || ms_since(first) > enough_ms) {  // the first round warms up caches, unless it took long
      forward.push_back(forward_ms);
      backward.push_back(ms_since(begin));
    }
    point.megabytes = static_cast<double>(held.peak()) / (1024 * 1024);
    if (ms_since(first) > enough_ms) break;
  }
  spent.all += ms_since(first);
  spent.processor += processor_ms() - had;
  point.forward_ms = middle_of(forward);
  point.backward_ms = middle_of(backward);
  return point;
}

// Estimates the worst-case cost of twice the length, n².
std::string why_not_next(const CostCurve& curve, const CostQuestion& question, double seconds_left) {
  if (seconds_left <= 0) return fmt::format(mark("the time limit of {:g} s is reached"), question.seconds);
  if (curve.points.empty()) return {};
  const CostPoint& last = curve.points.back();
  if (4 * last.megabytes > question.megabytes)
    return fmt::format(mark("{} tokens may need more than {:g} MB"), 2 * last.length, question.megabytes);
  return {};
}

ModelConfig measured(ModelConfig config) {
  if (config.d_model % config.num_heads != 0) config.num_heads = 1;  // a recurrent model's heads are unused
  config.dropout = 0;
  return config;
}

}  // namespace

CostResult measure_costs(const ModelConfig& given, const CostQuestion& question, const FractionCallback& progress) {
  const torch::AutoGradMode with_graph(true);
  const ModelConfig config = measured(given);
  CostResult inspection{
      .d_model = config.d_model,
      .heads = config.num_heads,
      .cell = config.cell,
      .device = fmt::format("CPU, {} thread{}", at::get_num_threads(), at::get_num_threads() == 1 ? "" : "s"),
      .curves = {}};
  std::vector<Pass> passes;
  for (const CostLayer layer : cost_layers) {
    passes.push_back(make_layer(layer, config));
    inspection.curves.push_back({.layer = layer, .points = {}});
  }
  const CostClock::time_point begin = CostClock::now();
  Spent spent;
  const double lengths = std::log2(static_cast<double>(question.longest) / shortest_cost) + 1;
  double done = 0;
  for (std::int64_t length = shortest_cost; length <= question.longest; length *= 2) {
    for (std::size_t i = 0; i < passes.size(); ++i) {
      progress(std::min(1.0, done++ / (lengths * static_cast<double>(passes.size()))));
      CostCurve& curve = inspection.curves[i];
      if (curve.ended.empty()) curve.ended = why_not_next(curve, question, question.seconds - ms_since(begin) / 1000);
      if (curve.ended.empty()) curve.points.push_back(measure(passes[i], length, config.d_model, spent));
    }
  }
  inspection.processor_share = spent.share();
  return inspection;
}

}  // namespace attnscope
