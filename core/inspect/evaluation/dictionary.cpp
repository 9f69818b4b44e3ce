#include "inspect/evaluation/dictionary.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>

#include "training/adam.h"

namespace attnscope {
namespace {

constexpr std::int64_t rows_a_step = 512;
constexpr std::int64_t dead_after = 100;  // steps without an activation, after which features are resampled
constexpr double dictionary_rate = 2e-3, second_moment_decay = 0.999;

// The dictionary's tensors as the optimizer's parameters.
struct TrainedDictionary : torch::nn::Module {
  explicit TrainedDictionary(const SparseDictionary& begun)
      : dictionary{register_parameter("b_dec", begun.b_dec), register_parameter("W_enc", begun.w_enc),
                   register_parameter("b_enc", begun.b_enc), register_parameter("W_dec", begun.w_dec),
                   begun.active, begun.of} {}
  SparseDictionary dictionary;
};

void normalize_rows(const torch::Tensor& rows) {
  const torch::NoGradGuard no_gradients;
  rows.div_(rows.norm(2, 1, true).clamp_min(1e-8));
}

// Dead features become what the others leave of some vectors, the more often the larger that is (Bricken et al. 2023).
void resample(const SparseDictionary& made, const torch::Tensor& dead, const torch::Tensor& x,
              const at::Generator& random) {
  const torch::NoGradGuard no_gradients;
  const torch::Tensor rest = x - made.decode(made.encode(x)), features = dead.nonzero().squeeze(1);
  const torch::Tensor weights = rest.square().sum(1).clamp_min(1e-12);
  const torch::Tensor directions = rest.index_select(0, weights.multinomial(features.size(0), true, random));
  normalize_rows(directions);
  made.w_dec.index_copy_(0, features, directions);
  made.w_enc.index_copy_(1, features, directions.t());
  made.b_enc.index_fill_(0, features, 0);
}

}  // namespace

torch::Tensor SparseDictionary::encode(const torch::Tensor& vectors) const {
  const torch::Tensor features = torch::relu(torch::matmul(vectors - b_dec, w_enc) + b_enc);
  if (active <= 0 || active >= features.size(-1)) return features;
  const torch::Tensor least = std::get<0>(features.topk(active, -1)).slice(-1, active - 1);
  return torch::where(features >= least, features, torch::zeros_like(features));
}

torch::Tensor SparseDictionary::decode(const torch::Tensor& features) const {
  return torch::matmul(features, w_dec) + b_dec;
}

SparseDictionary SparseDictionary::to(torch::Device device) const {
  return {b_dec.to(device), w_enc.to(device), b_enc.to(device), w_dec.to(device), active, of};
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
  const torch::Tensor w_dec = torch::randn({features, width}, random);
  normalize_rows(w_dec);
  TrainedDictionary trained(
      {torch::zeros({width}), w_dec.t().contiguous(), torch::zeros({features}), w_dec, options.active});
  Adam adam(trained, second_moment_decay);
  const SparseDictionary& made = trained.dictionary;
  torch::Tensor idle = torch::zeros({features}, torch::kInt64);  // steps since each was last active
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
    normalize_rows(made.w_dec);
    idle = (idle + 1).masked_fill(z.detach().gt(0).any(0), 0);
    const torch::Tensor dead = idle.ge(dead_after);
    if (step % dead_after != 0 || left < 0.3 || !dead.any().item<bool>()) continue;
    resample(made, dead, x, random);
    idle = idle.masked_fill(dead, 0);
  }
  const auto own = [](const torch::Tensor& parameter) { return parameter.detach().clone(); };
  return {own(made.b_dec) * scale + mean, own(made.w_enc), own(made.b_enc) * scale, own(made.w_dec),
          options.active, options.of};
}

}  // namespace attnscope
