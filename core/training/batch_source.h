// Every batch of a run, divided into the parts of the trainer's threads or of a rank's share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "config/config.h"
#include "model/kernels/libtorch.h"
#include "training/batches.h"
#include "training/dataset.h"

namespace attnscope {

class BatchSource {
 public:
  // The data set must contain a pair, or a stream of two tokens.
  BatchSource(const Config& config, std::shared_ptr<const Dataset> dataset, std::int64_t rank = 0,
              std::int64_t num_ranks = 1);

  // The rank's share of batch `number` (0, 1, …) in `count` parts, or one part per row if there are fewer rows; empty
  // if there are more ranks than rows. Depends only on seed and number.
  std::vector<Batch> parts(std::int64_t number, std::int64_t count, torch::Device device);

 private:
  Config config_;
  std::shared_ptr<const Dataset> dataset_;
  std::int64_t rank_;
  std::int64_t num_ranks_;
  std::optional<BatchSequence> pairs_;  // none for a language model
};

}  // namespace attnscope
