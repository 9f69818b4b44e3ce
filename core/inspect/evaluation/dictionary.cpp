#include "inspect/evaluation/dictionary.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>

#include "training/adam.h"

namespace attnscope {
namespace {

constexpr std::int64_t rows_a_step = 512;
constexpr double dictionary_rate = 2e-3, second_moment_decay = 0.999;

// The dictionary's tensors as the optimizer's parameters.
struct TrainedDictionary : torch::nn::Module {
  explicit TrainedDictionary(const SparseDictionary& begun)
      : dictionary{register_parameter("center", begun.center), register_parameter("reading", begun.reading),
                   register_parameter("offset", begun.offset), register_parameter("writing", begun.writing),
                   begun.active, begun.of} {}
  SparseDictionary dictionary;
};

void normalize_rows(const torch::Tensor& rows) {
  const torch::NoGradGuard no_gradients;
  rows.div_(rows.norm(2, 1, true).clamp_min(1e-8));
}

}  // namespace

torch::Tensor SparseDictionary::encode(const torch::Tensor& vectors) const {
  const torch::Tensor features = torch::relu(torch::matmul(vectors - center, reading) + offset);
  if (active <= 0 || active >= features.size(-1)) return features;
  const torch::Tensor least = std::get<0>(features.topk(active, -1)).slice(-1, active - 1);
  return torch::where(features >= least, features, torch::zeros_like(features));
}

torch::Tensor SparseDictionary::decode(const torch::Tensor& features) const {
  return torch::matmul(features, writing) + center;
}

SparseDictionary SparseDictionary::to(torch::Device device) const {
  return {center.to(device), reading.to(device), offset.to(device), writing.to(device), active, of};
}

SparseDictionary empty_dictionary(std::int64_t width, const DictionaryOptions& options) {
  const std::int64_t features = width * options.width;
  return {torch::zeros({width}), torch::zeros({width, features}), torch::zeros({features}),
          torch::zeros({features, width}), options.active, options.of};
}

// The loss is the squared error of vectors whose mean square is 1, plus the L1 penalty.
SparseDictionary train_dictionary(const torch::Tensor& vectors, const DictionaryOptions& options,
                                  const FractionCallback& progress) {
  const torch::AutoGradMode with_gradients(true);
  const std::int64_t count = vectors.size(0), width = vectors.size(1), features = width * options.width;
  const at::Generator random = at::make_generator<at::CPUGeneratorImpl>(1);
  const torch::Tensor mean = vectors.mean(0), centered = vectors - mean;
  const double scale = std::max(1e-12, std::sqrt(centered.square().mean().item<double>()));
  const torch::Tensor writing = torch::randn({features, width}, random);
  normalize_rows(writing);
  TrainedDictionary trained(
      {torch::zeros({width}), writing.t().contiguous(), torch::zeros({features}), writing, options.active});
  Adam adam(trained, second_moment_decay);
  const SparseDictionary& made = trained.dictionary;
  for (int step = 0; step < options.steps; ++step) {
    if (progress) progress(static_cast<double>(step) / options.steps);
    const torch::Tensor rows = torch::randint(count, {std::min(rows_a_step, count)}, random, torch::kInt64);
    const torch::Tensor x = centered.index_select(0, rows) / scale, z = made.encode(x);
    torch::Tensor loss = (made.decode(z) - x).square().sum();
    if (options.active <= 0) loss = loss + options.l1 * static_cast<double>(width) * z.sum();
    adam.zero_gradients();
    (loss / x.size(0)).backward();
    const double left = 1 - static_cast<double>(step) / options.steps;
    adam.update(dictionary_rate * std::min(1.0, 5 * left));  // the last fifth decays
    normalize_rows(made.writing);
  }
  const auto own = [](const torch::Tensor& parameter) { return parameter.detach().clone(); };
  return {own(made.center) * scale + mean, own(made.reading), own(made.offset) * scale, own(made.writing),
          options.active, options.of};
}

}  // namespace attnscope
