// What the dropouts of a pass zero, in the order in which the pass draws them (kernels/dropout.h): to show a mask
// without a pass. Shape letters: model.h.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/libtorch.h"
#include "plain/batch_inspection.h"
#include "plain/config.h"

namespace attnscope {

// The shape of the batch, and what is drawn before its decoder begins.
struct DroppedPass {
  std::int64_t rows = 0;           // B
  std::int64_t source_length = 0;  // S; 0 without an encoder
  std::int64_t target_length = 0;  // T
  std::int64_t free_steps = 0;     // of the decoder, in which it writes what it is then given
};

struct PlacedDropout {
  DropoutPlace place;
  std::int64_t drawn = 0;   // dropouts of the pass before it
  std::int64_t stride = 0;  // from one position's dropout to the next one's; 0: one dropout for all of them
  bool time_first = false;  // of L×B×D, as recurrent layers read
};

std::vector<PlacedDropout> dropout_places(const ModelConfig& config, const DroppedPass& pass);

// Where a batch's dropouts are drawn from.
struct DropoutDraw {
  std::int64_t seed = 0;
  std::int64_t number = 0;  // of the batch
  std::int64_t part = 0;
};

// 0 or 1/(1−p) of row 0 of the batch at that place: pieces × columns, or (H · pieces) × keys.
torch::Tensor dropout_of_row(const PlacedDropout& dropout, const ModelConfig& config, const DroppedPass& pass,
                             const DropoutDraw& draw);

}  // namespace attnscope
