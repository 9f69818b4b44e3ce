// A GPU computes the same as the CPU. Skipped without a GPU.
#include <gmock/gmock.h>
#include <torch/cuda.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "architectures_fixture.h"
#include "inspect/circuit/contrast_runs.h"
#include "inspect/circuit/sweep.h"
#include "inspect/probe/inspect_model.h"
#include "losses.h"
#include "model/kernels/async_readback.h"
#include "model/kernels/precision.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"
#include "tokenizer_fixture.h"
#include "training/decoding/search.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

constexpr double device_rounding = 1e-4;  // sums in another order, of probabilities or beside the largest gradient

class Device : public testing::Test {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
  }
};

Model on_cpu(const ModelConfig& config, std::int64_t vocab_size) {
  torch::manual_seed(7);
  Model model = make_model(config, vocab_size);
  stir(*model);
  return model;
}

Model on_gpu(const ModelConfig& config, std::int64_t vocab_size) {
  Model model = on_cpu(config, vocab_size);
  model->to(torch::kCUDA);
  return model;
}

TEST_F(Device, EveryParameterOfEveryArchitectureHasTheSameGradient) {
  for (auto [name, config] : every_architecture()) {
    config.dropout = 0;
    const Model here = on_cpu(config, small_vocab_size), there = on_gpu(config, small_vocab_size);
    const auto expected = gradients_of_small_batch(*here), found = gradients_of_small_batch(*there);
    const auto names = here->named_parameters().keys();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LE(difference(found[i].cpu(), expected[i]), device_rounding * largest_of(expected))
          << name << ' ' << names[i];
    }
  }
}

TEST_F(Device, InBfloat16EveryArchitectureHasNearlyTheSameGradient) {
  for (auto [name, config] : every_architecture()) {
    config.dropout = 0;
    const Model there = on_gpu(config, small_vocab_size);
    const auto expected = gradients_of_small_batch(*there);
    const kernels::PrecisionScope scope(kernels::Precision::bfloat16, torch::kCUDA);
    const auto found = gradients_of_small_batch(*there);
    // All gradients together: rounding may open a ReLU whose input is almost 0, which changes a few of them.
    double apart = 0, length = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      apart += (found[i] - expected[i]).square().sum().item<double>();
      length += expected[i].square().sum().item<double>();
    }
    EXPECT_LE(std::sqrt(apart / length), 0.15) << name;
    EXPECT_GE(std::sqrt(apart / length), 1e-3) << name << ": not rounded";
  }
}

Config gpu_config() {
  Config config = tiny_config();
  config.model.dropout = 0;
  config.training.device = "cuda";
  return config;
}

Config cpu_config() {
  Config config = gpu_config();
  config.training.device = "cpu";
  return config;
}

// Ten updates on the one device, saved, and ten more on the other.
std::vector<double> losses_of_both(const Config& first, const Config& second) {
  const fs::path folder = fs::temp_directory_path() / ("attnscope-device-" + std::to_string(::getpid()));
  fs::remove_all(folder);
  TorchEngine before, after;
  before.reset(first, {});
  std::vector<double> all = losses(before, 10);
  before.save_run(folder.string());
  save_config(RunFolder{folder}.config(), second);
  after.open_run(folder.string(), {});
  EXPECT_EQ(after.steps_done(), 10);
  const std::vector<double> rest = losses(after, 10);
  all.insert(all.end(), rest.begin(), rest.end());
  fs::remove_all(folder);
  return all;
}

TEST_F(Device, TrainsAsTheCpuDoesAndEachGoesOnWithTheOthersRun) {
  TorchEngine here;
  here.reset(cpu_config(), {});
  const std::vector<double> expected = losses(here, 20);
  EXPECT_THAT(losses_of_both(gpu_config(), gpu_config()), testing::Pointwise(testing::DoubleNear(1e-3), expected));
  EXPECT_THAT(losses_of_both(gpu_config(), cpu_config()), testing::Pointwise(testing::DoubleNear(1e-3), expected));
  EXPECT_THAT(losses_of_both(cpu_config(), gpu_config()), testing::Pointwise(testing::DoubleNear(1e-3), expected));
}

TEST_F(Device, TheSameSeedDrawsTheSameDropout) {
  Config config = gpu_config();
  config.model.dropout = 0.1;
  TorchEngine a, b;
  a.reset(config, {});
  b.reset(config, {});
  const auto expected = losses(a, 40), found = losses(b, 40);
  EXPECT_THAT(found, testing::Pointwise(testing::DoubleNear(1e-3), expected));
  EXPECT_LT(expected.back(), 0.9 * expected.front());
}

TEST_F(Device, TheBatchThatComesNextIsShownWithoutItsDropout) {
  Config config = gpu_config();
  config.model.dropout = 0.1;
  TorchEngine engine;
  engine.reset(config, {});
  std::shared_ptr<const Snapshot> last;
  const Probe probe{.text = "a b c", .batch = BatchWanted()};
  engine.probe(probe, [&](std::shared_ptr<const Snapshot> snapshot) { last = std::move(snapshot); }, {});
  ASSERT_TRUE(last && last->batch);
  EXPECT_EQ(last->batch->source.rows, config.training.batch_size);
  EXPECT_TRUE(last->batch->dropout_places.empty());
}

TEST_F(Device, NumbersReadLateArrive) {
  const torch::Tensor numbers = torch::arange(2, torch::dtype(torch::kFloat64).device(torch::kCUDA)) + 0.5;
  EXPECT_THAT(kernels::AsyncReadback(numbers).wait(), testing::ElementsAre(0.5, 1.5));
}

ModelConfig config_to_inspect(const std::string& architecture) {
  ModelConfig config = small_config();
  config.architecture = architecture;
  return config;
}

void expect_near(const AttentionMaps& found, const AttentionMaps& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t layer = 0; layer < found.size(); ++layer) {
    ASSERT_EQ(found[layer].size(), expected[layer].size());
    for (std::size_t head = 0; head < found[layer].size(); ++head) {
      EXPECT_THAT(found[layer][head].values, testing::Pointwise(testing::FloatNear(static_cast<float>(device_rounding)),
                                                                expected[layer][head].values));
    }
  }
}

TEST_F(Device, LooksInsideSeeTheSame) {
  for (const char* const architecture : {"encoder-decoder", "decoder-only", "recurrent"}) {
    SCOPED_TRACE(architecture);
    const ModelConfig config = config_to_inspect(architecture);
    const auto inspect = [&](const Model& model) {
      model->freeze();
      Snapshot last;
      const Probe probe{.text = "the cat sat on the mat"};
      inspect_model(*model, tokenizer(), probe, [&](Snapshot snapshot) { last = std::move(snapshot); }, {});
      return last;
    };
    const auto vocab_size = tokenizer().vocab_size();
    const Snapshot expected = inspect(on_cpu(config, vocab_size)), found = inspect(on_gpu(config, vocab_size));
    EXPECT_EQ(found.output_text, expected.output_text);
    expect_near(found.encoder, expected.encoder);
    expect_near(found.decoder, expected.decoder);
    expect_near(found.cross, expected.cross);
  }
}

TEST_F(Device, BeamsFindTheSame) {
  const ModelConfig config = config_to_inspect("encoder-decoder");
  const SmallBatch batch = small_batch();
  const auto found_by = [&](const Model& model) {
    model->freeze();
    const auto there = [&](const torch::Tensor& tensor) { return tensor.to(model->device()); };
    return beam_search(*model, there(batch.source), there(batch.source_padding), {.beam = 3, .limit = 12});
  };
  const auto expected = found_by(on_cpu(config, small_vocab_size)), found = found_by(on_gpu(config, small_vocab_size));
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t row = 0; row < found.size(); ++row) {
    ASSERT_EQ(found[row].size(), expected[row].size());
    for (std::size_t i = 0; i < found[row].size(); ++i) {
      EXPECT_EQ(found[row][i].ids, expected[row][i].ids);
      EXPECT_NEAR(found[row][i].log_prob, expected[row][i].log_prob, 1e-3);
    }
  }
}

std::vector<double> margins(const EffectGrid& grid) {
  std::vector<double> all;
  for (const Effect& effect : grid.effects) all.push_back(effect.margin);
  return all;
}

TEST_F(Device, PatchesReturnTheSame) {
  const ModelConfig config = config_to_inspect("encoder-decoder");
  const auto sweep_of = [&](const Model& model) {
    model->freeze();
    const ContrastRuns runs(*model, tokenizer(), {"the cat sat", "the dog sat", {"t", "e"}});
    return sweep(runs, ContrastSide::corrupted, ChangeKind::contrast);
  };
  const auto vocab_size = tokenizer().vocab_size();
  const Sweep expected = sweep_of(on_cpu(config, vocab_size)), found = sweep_of(on_gpu(config, vocab_size));
  for (const AttentionPart part : {AttentionPart::encoder, AttentionPart::decoder, AttentionPart::cross}) {
    ASSERT_GT(expected.heads(part).effects.size(), 0U);
    EXPECT_THAT(margins(found.heads(part)),
                testing::Pointwise(testing::DoubleNear(1e-3), margins(expected.heads(part))));
  }
  EXPECT_THAT(margins(found.encoder_states),
              testing::Pointwise(testing::DoubleNear(1e-3), margins(expected.encoder_states)));
}

}  // namespace
}  // namespace attnscope
