#include "inspect/evaluation/tuned_lens.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>

namespace attnscope {
namespace {

constexpr std::int64_t lens_batch = 256, lens_steps = 300;
constexpr double lens_rate = 0.1, lens_moment_decay = 0.999;

struct TrainedLens : torch::nn::Module {
  explicit TrainedLens(const TunedLens& begun)
      : lens{register_parameter("weight", begun.weight), register_parameter("bias", begun.bias)} {}
  TunedLens lens;
};

torch::Tensor log_probabilities(SequenceModel& model, const torch::Tensor& stream) {
  return model.logits(model.finished(stream)).to(torch::kFloat32).log_softmax(-1);
}

// Of every row but the last, summed over N tokens: N×R×D → R − 1.
torch::Tensor divergences(SequenceModel& model, const torch::Tensor& streams, const TunedLens& lens) {
  const std::int64_t last = streams.size(1) - 1;
  const torch::Tensor output = log_probabilities(model, streams.select(1, last)).detach(), p = output.exp();
  std::vector<torch::Tensor> rows;
  for (std::int64_t row = 0; row < last; ++row) {
    const torch::Tensor translated = lens.translate(static_cast<std::size_t>(row), streams.select(1, row));
    rows.push_back((p * (output - log_probabilities(model, translated))).sum());
  }
  return torch::stack(rows);
}

}  // namespace

torch::Tensor TunedLens::translate(std::size_t row, const torch::Tensor& x) const {
  const auto index = static_cast<std::int64_t>(row);
  return x + x.matmul(weight[index].t().to(x.device())) + bias[index].to(x.device());
}

TunedLens identity_lens(std::int64_t rows, std::int64_t width) {
  return {torch::zeros({rows, width, width}), torch::zeros({rows, width})};
}

TunedLens fit_tuned_lens(SequenceModel& model, const torch::Tensor& streams, const FractionCallback& progress) {
  const torch::AutoGradMode with_gradients(true);
  const std::int64_t rows = streams.size(1), fitted = streams.size(0) - streams.size(0) / 8;
  const TunedLens identity = identity_lens(rows, streams.size(2));
  if (rows < 2 || fitted == streams.size(0)) return identity;
  TrainedLens trained(identity_lens(rows, streams.size(2)));
  Adam adam(trained, lens_moment_decay);
  const double first_rate = lens_rate / std::sqrt(static_cast<double>(streams.size(2)));
  const at::Generator random = at::make_generator<at::CPUGeneratorImpl>(1);
  for (std::int64_t step = 0; step < lens_steps; ++step) {
    if (progress) progress(static_cast<double>(step) / lens_steps);
    const torch::Tensor chosen = torch::randint(fitted, {std::min(lens_batch, fitted)}, random, torch::kInt64);
    adam.zero_gradients();
    const torch::Tensor batch = streams.index_select(0, chosen).to(model.device());
    (divergences(model, batch, trained.lens).sum() / batch.size(0)).backward();
    adam.update(first_rate * (1 - static_cast<double>(step) / lens_steps));
  }
  TunedLens made{trained.lens.weight.detach().clone(), trained.lens.bias.detach().clone()};
  const torch::Tensor held_out = streams.slice(0, fitted);
  const std::vector<double> now = lens_divergence(model, held_out, made),
                            before = lens_divergence(model, held_out, identity);
  for (std::int64_t row = 0; row < rows; ++row) {
    if (now[static_cast<std::size_t>(row)] <= before[static_cast<std::size_t>(row)]) continue;
    made.weight[row].zero_();
    made.bias[row].zero_();
  }
  return made;
}

std::vector<double> lens_divergence(SequenceModel& model, const torch::Tensor& streams, const TunedLens& lens) {
  const torch::NoGradGuard no_gradients;
  if (streams.size(1) < 2) return std::vector<double>(static_cast<std::size_t>(streams.size(1)));
  torch::Tensor sums = torch::zeros({streams.size(1)}, torch::kFloat64);
  for (const torch::Tensor& part : streams.split(lens_batch))
    sums.slice(0, 0, -1) += divergences(model, part.to(model.device()), lens).to(torch::kCPU, torch::kFloat64);
  sums /= static_cast<double>(std::max<std::int64_t>(1, streams.size(0)));
  return {sums.data_ptr<double>(), sums.data_ptr<double>() + sums.numel()};
}

}  // namespace attnscope
