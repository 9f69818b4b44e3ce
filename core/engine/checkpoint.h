// A run's tensors on disk: model.safetensors and optimizer.safetensors.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "files/storage/safetensors.h"
#include "model/kernels/libtorch.h"
#include "model/model.h"
#include "training/adam.h"

namespace attnscope {

// Empty for types that are not floating-point.
std::optional<torch::ScalarType> floating_type(Dtype dtype);

// True if all values are finite. A sum detects nearly every exception without the copy that torch::isfinite makes.
bool is_finite(const torch::Tensor& values);

// Saves the weights under PyTorch's names, with the number of training steps.
void save_weights(const std::filesystem::path& path, SequenceModel& model, std::int64_t step);

// The same for tensors by name.
void save_tensors(const std::filesystem::path& path, const NamedTensors& tensors, std::int64_t step);

// Tensors that can be computed again, with a label that says from what.
void save_derived(const std::filesystem::path& path, const NamedTensors& tensors, const std::string& label);

// Copies them into `tensors`, which have their shapes; false, and nothing is copied, if the file is missing or damaged,
// or has another label.
bool load_derived(const std::filesystem::path& path, const NamedTensors& tensors, const std::string& label);

// A number that depends on every bit of the model's weights.
std::uint64_t checksum_of(SequenceModel& model);

// The step of saved weights, without reading them. Throws as load_weights.
std::int64_t step_of_weights(const std::filesystem::path& path);

// The first parameter with a non-finite value; empty: none.
std::string first_not_finite(SequenceModel& model);

// Copies the file's weights into the model and returns their step. Throws SafetensorsError or FileError naming the file
// and the tensor that is missing, unexpected or of another shape; the model is then unchanged.
std::int64_t load_weights(const std::filesystem::path& path, SequenceModel& model);

// Copies the mean of several files' weights into the model; throws as load_weights. There must be at least one path.
void load_mean_weights(std::span<const std::filesystem::path> paths, SequenceModel& model);

void save_optimizer(const std::filesystem::path& path, Adam& optimizer, std::int64_t step);

// Copies the moments into the optimizer and returns their step; throws as load_weights.
std::int64_t load_optimizer(const std::filesystem::path& path, Adam& optimizer);

}  // namespace attnscope
