// Runs and snapshots as the worker would report them, without a model behind them.
#pragma once

#include <memory>
#include <vector>

#include "messages/messages.h"
#include "messages/snapshot.h"

namespace attnscope {

struct FixtureSize {
  int source = 3;
  int target = 4;
  int layers = 2;  // of encoder and decoder alike
  int heads = 4;
};

// Every map's rows sum to 1, the decoder's are masked, the candidates' probabilities fall; the same for the same size.
std::shared_ptr<Snapshot> fixture_snapshot(FixtureSize size, std::uint64_t request = 1);

// "The animal didn't cross the street…" and its translation, with attention that looks like a trained model's.
std::shared_ptr<Snapshot> animal_snapshot(std::uint64_t request = 1);

// A snapshot of a model with this configuration. A language model has a prompt and its continuation, a recurrent one at
// most one map.
std::shared_ptr<Snapshot> snapshot_of_model(const ModelConfig& model, std::uint64_t request = 1);

// One configuration of every architecture and of every way to tell the order.
std::vector<ModelConfig> fixture_models();

// A run of English and French with a falling loss of that many steps.
RunOpened fixture_run(int history_steps = 0);

}  // namespace attnscope
