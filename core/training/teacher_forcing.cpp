#include "training/teacher_forcing.h"

#include <vector>

namespace attnscope {
namespace {

bool chance(double probability, Random& random) {
  constexpr std::size_t steps = 1U << 20U;
  return static_cast<double>(random.below(steps)) < probability * steps;
}

}  // namespace

torch::Tensor scheduled_sampling_inputs(SequenceModel& model, const torch::Tensor& target_in, const Memory& memory,
                                        double teacher_forcing, Random random) {
  if (teacher_forcing >= 1) return target_in;
  const torch::NoGradGuard no_gradients;
  DecoderCache cache;
  std::vector<torch::Tensor> given = {target_in.slice(1, 0, 1)};
  for (std::int64_t position = 1; position < target_in.size(1); ++position) {
    const torch::Tensor logits = model.logits(model.decode(given.back(), memory, &cache).select(1, -1));
    const torch::Tensor reference = target_in.slice(1, position, position + 1);
    const torch::Tensor own = torch::where(reference == model.config().padding_id, reference, logits.argmax(-1, true));
    given.push_back(chance(teacher_forcing, random) ? reference : own);
  }
  return torch::cat(given, 1);
}

}  // namespace attnscope
