// Shared by the tests of training: a corpus for the tokenizers of the random checkpoints, and access to a model.
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "engine/torch_engine.h"
#include "files/storage/file.h"
#include "inspect/probe/tensors.h"
#include "training/validation.h"

namespace attnscope {

// Sentences of which the small checkpoints' tokenizers have every word.
inline std::string some_pairs() {
  std::string text;
  for (const char* who : {"The animal", "A cat", "A dog", "The street", "My book", "She"})
    for (const char* what : {"is tired", "is old", "was too wide", "was tired", "is in the garden"})
      text += std::string(who) + " " + what + ".\tLa rue " + (*who == 'T' ? "est" : "était") + " trop large.\n";
  return text;
}

class FineTuning : public testing::Test {
 protected:
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("attnscope-tuning-" + std::to_string(::getpid()));
  std::string corpus = (folder / "pairs.tsv").string();

  void SetUp() override {
    std::filesystem::create_directories(folder);
    std::ofstream(corpus) << some_pairs();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  // On one thread, without what makes a loss another number than the likelihood.
  Config plainly(Config config) const {
    config.corpus.source = corpus;
    config.training.threads = 1;
    config.training.device = "cpu";
    config.training.batch_size = 64;
    config.training.learning_rate = 0.01;
    config.training.warmup_steps = 1;
    config.model.dropout = 0;
    return config;
  }

  static torch::Tensor logits(TorchEngine& engine) {
    SequenceModel& model = engine.model();
    const std::vector<int> ids = {5, 9, 7, 4, 11};
    const torch::Tensor text = ids_tensor(ids, torch::kCPU);
    const Memory memory = model.config().is_language_model() ? Memory() : model.encode(text, {});
    return model.logits(model.decode(text, memory));
  }

  // In nats per token, over all training data.
  static double likelihood(TorchEngine& engine) {
    const auto data = engine.dataset();
    return negative_log_likelihood(engine.model(), data->train, 64, {}).per_token();
  }

  // Every file's bytes.
  static std::map<std::string, std::string> contents(const std::filesystem::path& path) {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      all[entry.path().filename().string()] = read_file(entry.path(), 1U << 26U);
    return all;
  }
};

}  // namespace attnscope
