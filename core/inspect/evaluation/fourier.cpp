#include "inspect/evaluation/fourier.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <set>

#include "common/mark.h"
#include "data/corpus/modular.h"
#include "inspect/probe/tensors.h"
#include "model/inspection.h"
#include "training/dataset.h"

namespace attnscope {
namespace {

// cos and sin of frequency k over n numbers, 2×n, each of norm 1.
torch::Tensor waves(std::int64_t n, int k) {
  const torch::Tensor angle = torch::arange(n, torch::kFloat64) * (2 * std::numbers::pi * k / static_cast<double>(n));
  const torch::Tensor both = torch::stack({angle.cos(), angle.sin()});
  return both / both.norm(2, 1, true).clamp_min(1e-6);  // the sine of frequency n / 2 is 0
}

// Logits N×C, targets N; over the rows of the mask.
double mean_loss(const torch::Tensor& logits, const torch::Tensor& targets, const torch::Tensor& mask) {
  const torch::Tensor rows = mask.nonzero().squeeze(1);
  const torch::Tensor chosen = targets.index_select(0, rows).unsqueeze(1);
  return -logits.index_select(0, rows).log_softmax(1).gather(1, chosen).mean().item<double>();
}

}  // namespace

std::vector<double> fourier_power(const torch::Tensor& rows) {
  const torch::Tensor wide = rows.to(torch::kCPU, torch::kFloat64);
  const torch::Tensor centred = wide - wide.mean(0, true);
  const double total = centred.square().sum().item<double>();
  std::vector<double> power;
  for (int k = 1; k <= rows.size(0) / 2; ++k) {
    const double part = waves(rows.size(0), k).matmul(centred).square().sum().item<double>();
    power.push_back(total > 0 ? part / total : 0);
  }
  return power;
}

std::vector<int> key_frequencies(std::span<const double> power) {
  std::vector<int> key;
  for (std::size_t i = 0; i < power.size(); ++i)
    if (power[i] * static_cast<double>(power.size()) > 3) key.push_back(static_cast<int>(i) + 1);
  return key;
}

FrequencySplit split_by_frequency(const torch::Tensor& logits, std::span<const int> frequencies, bool minus) {
  const std::int64_t n = logits.size(0);
  const torch::Tensor wide = logits.to(torch::kFloat64), numbers = torch::arange(n);
  const torch::Tensor second = minus ? -numbers : numbers;
  const torch::Tensor sums = (numbers.unsqueeze(1) + second.unsqueeze(0)).remainder(n).flatten();  // of every pair
  const torch::Tensor by_sum =
      torch::zeros({n, wide.size(2)}, torch::kFloat64).index_add(0, sums, wide.flatten(0, 1)) / static_cast<double>(n);
  torch::Tensor part = torch::zeros_like(by_sum);
  for (const int k : frequencies) {
    const torch::Tensor basis = waves(n, k);
    part += basis.t().matmul(basis.matmul(by_sum));
  }
  const torch::Tensor of_pairs = part.index_select(0, sums).view_as(wide);
  return {of_pairs + wide.mean(torch::IntArrayRef{0, 1}, true), wide - of_pairs};
}

std::string fourier_problem(const Config& config) {
  if (config.corpus.source != "modular") return mark("This view shows models of modular arithmetic: corpus modular.");
  if (!config.model.is_classifier() || config.model.is_recurrent())
    return mark("Modular arithmetic is analyzed in a classifier with a Transformer encoder.");
  return {};
}

FourierAnalysis::FourierAnalysis(const Config& config, const Tokenizer& tokenizer, const Corpus& corpus,
                                 FourierQuestion question)
    : config_(config) {
  const Modular rule(config.corpus);
  result_.question = question;
  result_.modulus = static_cast<int>(config.corpus.modulus);
  result_.multiplies = rule.multiplies();
  result_.has_losses = rule.is_cyclic();
  result_.numbers = rule.in_cyclic_order();
  first_label_ = tokenizer.vocab_size() - static_cast<std::int64_t>(tokenizer.labels().size());
  for (const int number : result_.numbers) {
    const std::vector<Token> tokens = tokenizer.encode(std::to_string(number));
    if (tokens.size() == 1) rows_.push_back(tokens.front().id);
  }
  if (rows_.size() != result_.numbers.size()) {
    result_.problem = mark("Not every number is one token: train with tokenizer.type=word.");
    return;
  }
  std::set<std::string> training;
  for (const Pair& pair : corpus.train) training.insert(pair.source);
  std::vector<torch::Tensor> inputs;
  std::vector<std::int64_t> targets;
  std::vector<std::uint8_t> trained;
  const std::vector<std::string>& labels = tokenizer.labels();
  const std::int64_t max_length = config.model.max_length;
  for (const int a : result_.numbers) {
    for (const int b : result_.numbers) {
      const Pair pair = rule.pair(a, b);
      // A result that no training pair has is no label: −1.
      const auto encoded = encode_pair(tokenizer, {.source = pair.source, .target = labels.front()}, max_length);
      const auto label = std::ranges::find(labels, pair.target);
      if (!encoded) {
        result_.problem = mark("The pairs are longer than model.max_length.");
        return;
      }
      inputs.push_back(ids_tensor(encoded->source, torch::kCPU).squeeze(0));
      targets.push_back(label == labels.end() ? -1 : label - labels.begin());
      trained.push_back(training.contains(pair.source));
    }
  }
  inputs_ = torch::stack(inputs);
  targets_ = torch::tensor(targets);
  trained_ = torch::tensor(trained).to(torch::kBool);
}

void FourierAnalysis::add(SequenceModel& model, std::int64_t step) {
  if (!result_.problem.empty()) return;
  const torch::NoGradGuard no_gradients;
  model.check_standing_still();
  const auto n = static_cast<std::int64_t>(rows_.size());
  const torch::Tensor rows = model.embedding_rows(EmbeddingMatrix::source)
                                 .to(torch::kCPU, torch::kFloat32)
                                 .index_select(0, torch::tensor(rows_));
  FourierPoint point{.step = step, .power = fourier_power(rows)};
  result_.key = key_frequencies(point.power);
  Inspection inspection{.sublayers_wanted = true};
  const Memory memory = model.encode(inputs_.to(model.device()), {}, &inspection);
  const torch::Tensor start = torch::full({inputs_.size(0), 1}, model.config().start_id, inputs_.options());
  const torch::Tensor logits =
      model.logits(model.decode(start.to(model.device()), memory)).select(1, 0).slice(1, first_label_).cpu();
  const torch::Tensor known = targets_.ge(0);
  point.loss = mean_loss(logits, targets_, known);
  if (result_.has_losses) {
    const bool minus = config_.corpus.operation == "-" || config_.corpus.operation == "/";
    const FrequencySplit split = split_by_frequency(logits.view({n, n, -1}), result_.key, minus);
    point.restricted = mean_loss(split.restricted.flatten(0, 1), targets_, known);
    point.excluded = mean_loss(split.excluded.flatten(0, 1), targets_, trained_);
  }
  result_.points.push_back(std::move(point));
  result_.circles.clear();
  const torch::Tensor centred = (rows - rows.mean(0, true)).to(torch::kFloat64);
  for (const int k : result_.key) {
    const torch::Tensor axes = torch::nn::functional::normalize(
        waves(n, k).matmul(centred), torch::nn::functional::NormalizeFuncOptions().dim(1));  // 2×D
    result_.circles.push_back(to_matrix(centred.matmul(axes.t()).to(torch::kFloat32)));
  }
  if (!model.config().has_feed_forward()) return;
  const torch::Tensor active = inspection.sublayers.back().active.select(1, -1).cpu();  // n²×F, at the end token
  result_.num_neurons = static_cast<int>(active.size(1));
  const std::int64_t neuron = std::clamp<std::int64_t>(result_.question.neuron, 0, active.size(1) - 1);
  result_.neuron = to_matrix(active.select(1, neuron).view({n, n}));
}

}  // namespace attnscope
