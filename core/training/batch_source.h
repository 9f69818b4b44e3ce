// Every batch of a run, in the parts that the trainer's threads take, or those of a rank's share of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/libtorch.h"
#include "plain/config.h"
#include "training/batches.h"
#include "training/dataset.h"

namespace attnscope {

class BatchSource {
 public:
  // There must be something to train on: a pair, or a stream of two pieces.
  BatchSource(const Config& config, std::shared_ptr<const Dataset> dataset, std::int64_t rank = 0,
              std::int64_t num_ranks = 1);

  // The rank's share of batch `number` (0, 1, …) in `count` parts, or as many as it has rows: none, where there are
  // more ranks than rows. A function of seed and number.
  std::vector<Batch> parts(std::int64_t number, std::int64_t count, torch::Device device);

 private:
  Config config_;
  std::shared_ptr<const Dataset> dataset_;
  std::int64_t rank_;
  std::int64_t num_ranks_;
  std::optional<BatchSequence> pairs_;  // none for a language model
};

}  // namespace attnscope
