#pragma once

#include <filesystem>
#include <string>

#include "engine/torch_engine.h"

namespace attnscope {

class ProgressLine;

// Exports the open run as a TensorBoard log folder: curves, histograms of every tensor and gradient at every recorded
// step, the embedding for the Projector, and attention images of its pinned sentences (or of `source`; only in builds
// with the window). Creates the folder, which must be empty; throws FileError.
void export_tensorboard(TorchEngine& engine, const std::string& source, const std::filesystem::path& folder,
                        ProgressLine& line);

}  // namespace attnscope
