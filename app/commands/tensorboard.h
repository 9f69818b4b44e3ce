#pragma once

#include <filesystem>
#include <string>

#include "engine/torch_engine.h"

namespace attnscope {

class ProgressLine;

// The open run as a log folder of TensorBoard: its curves, how every tensor and gradient is spread at every kept step,
// the embedding for the Projector, and the attention of its pinned sentences (of `source`, where none is pinned), which
// only a build with the window draws. The folder is made, and must be empty; throws FileError.
void export_tensorboard(TorchEngine& engine, const std::string& source, const std::filesystem::path& folder,
                        ProgressLine& line);

}  // namespace attnscope
