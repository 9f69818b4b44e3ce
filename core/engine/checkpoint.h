// A run's tensors on disk: model.safetensors and optimizer.safetensors.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "kernels/libtorch.h"
#include "model/model.h"
#include "storage/safetensors.h"
#include "training/adam.h"

namespace attnscope {

// Nothing for what are no floating-point numbers.
std::optional<torch::ScalarType> floating_type(Dtype dtype);

// Everywhere. A sum finds nearly all that is not, and makes no copy as torch::isfinite does.
bool is_finite(const torch::Tensor& values);

// Weights under PyTorch's names, with the number of updates they have had.
void save_weights(const std::filesystem::path& path, SequenceModel& model, std::int64_t step);

// The first of the weights that is not finite everywhere; empty: none.
std::string first_not_finite(SequenceModel& model);

// Copies the file's weights into the model and returns their step. Throws SafetensorsError or FileError naming the file
// and the tensor that is missing, superfluous or of another shape; the model is then unchanged.
std::int64_t load_weights(const std::filesystem::path& path, SequenceModel& model);

// Copies the mean of several files' weights into the model; errors as load_weights. There must be a path.
void load_mean_weights(std::span<const std::filesystem::path> paths, SequenceModel& model);

void save_optimizer(const std::filesystem::path& path, Adam& optimizer, std::int64_t step);

// Copies the moments into the optimizer and returns their step; errors as load_weights.
std::int64_t load_optimizer(const std::filesystem::path& path, Adam& optimizer);

}  // namespace attnscope
