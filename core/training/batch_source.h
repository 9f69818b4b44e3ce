// Every batch of a run, in the parts that the trainer's threads take.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plain/config.h"
#include "training/batches.h"
#include "training/dataset.h"

namespace attnscope {

class BatchSource {
 public:
  // There must be something to train on: a pair, or a stream of two pieces.
  BatchSource(const Config& config, std::shared_ptr<const Dataset> dataset);

  // Batch `number` (0, 1, …) in `count` parts, or as many as it has rows. A function of seed and number.
  std::vector<Batch> parts(std::int64_t number, std::int64_t count, torch::Device device);

 private:
  Config config_;
  std::shared_ptr<const Dataset> dataset_;
  std::optional<BatchSequence> pairs_;  // none for a language model
};

}  // namespace attnscope
