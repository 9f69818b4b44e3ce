// The parts of the benchmark that draw, all in an offscreen window of this size.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "commands/measurement.h"
#include "messages/snapshot.h"

namespace attnscope {

inline constexpr int measured_width = 1600;
inline constexpr int measured_height = 1000;

// See BenchWindow in commands.h.
std::vector<Measurement> measure_thumbnails();
std::vector<Measurement> measure_captures();
std::function<void(std::shared_ptr<const Snapshot>)> open_attention_window();
std::vector<Measurement> measure_embedding_frames(const EmbeddingResult& inspection);
std::vector<Measurement> measure_neuron_frames();
std::vector<Measurement> measure_window(const std::string& run);

}  // namespace attnscope
