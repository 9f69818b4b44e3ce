#include <fmt/format.h>

#include <algorithm>

#include "compute/bench.h"
#include "config/config.h"
#include "config/presets.h"
#include "data/tokenizer/tokenizer.h"
#include "model/kernels/libtorch.h"
#include "model/model.h"
#include "training/decoding/search.h"
#include "training/decoding/stepper.h"

namespace attnscope {
namespace {

constexpr std::int64_t vocab_size = 4000;
constexpr std::int64_t source_length = 32;
constexpr std::int64_t usual_output_length = 128;
constexpr int search_rounds = 5;

// The stepper interface, implemented by recomputing the whole output at every step.
class Uncached {
 public:
  Uncached(SequenceModel& model, const torch::Tensor& source) : model_(model), memory_(model.encode(source, {})) {}

  // Same as Stepper::advance.
  torch::Tensor advance(const torch::Tensor& rows, const torch::Tensor& tokens) {
    read_ = read_.defined() ? torch::cat({read_.index_select(0, rows), tokens}, 1) : tokens;
    Memory memory = memory_;
    memory.states = memory_.states.expand({read_.size(0), -1, -1});
    return torch::log_softmax(model_.logits(model_.decode(read_, memory).select(1, -1)), -1);
  }

 private:
  SequenceModel& model_;
  Memory memory_;
  torch::Tensor read_;  // int64 N×L
};

template <typename Asked>
double search_milliseconds(Asked asked, std::int64_t beam, std::int64_t output_length) {
  const torch::Tensor begin = torch::full({1, 1}, Tokenizer::bos_id, torch::kInt64);
  return milliseconds([&] {
    beam_search([&](const auto& rows, const auto& tokens) { return asked.advance(rows, tokens); }, begin,
                {.beam = beam, .limit = output_length, .eos_ends = false});
  });
}

Model random_model(std::int64_t max_length) {
  torch::manual_seed(1);
  ModelConfig config = with_preset(preset("tiny"), {}).model;
  config.max_length = max_length;
  Model model = make_model(config, vocab_size);
  model->freeze();
  return model;
}

}  // namespace

double decoding_milliseconds(std::int64_t length, bool cached) {
  const Model model = random_model(length);
  const torch::Tensor source = torch::randint(4, vocab_size, {1, std::min(length, source_length)}, torch::kInt64);
  std::vector<double> times;
  for (int round = 0; round < search_rounds; ++round) {
    times.push_back(cached ? search_milliseconds(Stepper(*model, source, {}, {}), 1, length)
                           : search_milliseconds(Uncached(*model, source), 1, length));
  }
  return median(times);
}

std::vector<Measurement> measure_decoding() {
  const Model model = random_model(ModelConfig().max_length);
  const torch::Tensor source = torch::randint(4, vocab_size, {1, source_length}, torch::kInt64);
  std::vector<Measurement> measured;
  for (const std::int64_t beam : {1, 4}) {
    std::vector<double> cached, ratios;
    for (int round = -1; round < search_rounds; ++round) {
      const double with = search_milliseconds(Stepper(*model, source, {}, {}), beam, usual_output_length);
      const double without = search_milliseconds(Uncached(*model, source), beam, usual_output_length);
      if (round < 0) continue;  // warm-up
      cached.push_back(with);
      ratios.push_back(without / with);
    }
    measured.push_back(
        {fmt::format("decoding {} tokens with a beam of {}", usual_output_length, beam), median(cached), "ms"});
    measured.push_back({fmt::format("speedup over decoding without the cache, beam {}", beam), median(ratios), "×"});
  }
  return measured;
}

}  // namespace attnscope
