// Reproduces the dropout masks of a forward pass, in the order in which the pass draws them (model/kernels/dropout.h),
// to show a mask without running the pass. Shape letters: model.h.
#pragma once

#include <cstdint>
#include <vector>

#include "config/config.h"
#include "messages/batch_inspection.h"
#include "model/kernels/libtorch.h"

namespace attnscope {

// The shape of the batch, and the dropouts drawn before its decoder starts.
struct DroppedPass {
  std::int64_t rows = 0;           // B
  std::int64_t source_length = 0;  // S; 0 without an encoder
  std::int64_t target_length = 0;  // T
  std::int64_t free_steps = 0;     // decoder steps that feed the model its own predictions
};

struct PlacedDropout {
  DropoutPlace place;
  std::int64_t drawn = 0;   // number of dropouts of the pass drawn before
  std::int64_t stride = 0;  // offset between the dropouts of neighboring positions; 0: one dropout for all
  bool time_first = false;  // L×B×D, as in recurrent layers
};

std::vector<PlacedDropout> dropout_places(const ModelConfig& config, const DroppedPass& pass);

// Selects the random numbers of a batch's dropouts.
struct DropoutDraw {
  std::int64_t seed = 0;
  std::int64_t number = 0;  // batch number
  std::int64_t part = 0;
};

// 0 or 1/(1−p) for row 0 of the batch at that site: tokens × columns, or (H · tokens) × keys.
torch::Tensor dropout_of_row(const PlacedDropout& dropout, const ModelConfig& config, const DroppedPass& pass,
                             const DropoutDraw& draw);

}  // namespace attnscope
