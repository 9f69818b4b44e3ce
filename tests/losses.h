// The losses of updates, after each of which is saved what is due; apart from run_fixture.h: who needs them is compiled
// anew with the table of metrics.
#pragma once

#include <vector>

#include "engine/torch_engine.h"
#include "messages/metrics.h"

namespace attnscope {

inline std::vector<double> losses(TorchEngine& engine, int steps) {
  std::vector<double> values;
  for (int i = 0; i < steps; ++i) {
    values.push_back(engine.train_step({})[metric("loss")].value());
    engine.checkpoint_if_due();
  }
  return values;
}

}  // namespace attnscope
