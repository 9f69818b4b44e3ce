#include "engine/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <map>

#include "common/cache.h"
#include "files/storage/mapped_file.h"
#include "files/storage/run_folder.h"

namespace attnscope {
namespace {

NamedTensors weights_of(SequenceModel& model) {
  NamedTensors named;
  for (const auto& item : model.named_parameters()) named.emplace_back(item.key(), item.value());
  return named;
}

std::string bytes_of(const torch::Tensor& tensor) {
  const torch::Tensor host = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  return {static_cast<const char*>(host.data_ptr()), static_cast<std::size_t>(host.nbytes())};
}

void save(const std::filesystem::path& path, const NamedTensors& named, std::map<std::string, std::string> metadata) {
  metadata["format"] = "pt";
  Safetensors file{std::move(metadata), {}};
  for (const auto& [name, tensor] : named)
    file.tensors.push_back({name, Dtype::F32, tensor.sizes().vec(), bytes_of(tensor)});
  write_safetensors(path, file);
}

torch::ScalarType scalar_type(const std::filesystem::path& path, const TensorView& tensor) {
  if (const auto type = floating_type(tensor.dtype)) return *type;
  throw SafetensorsError(
      fmt::format("{}: tensor {} does not contain floating-point numbers", path.string(), tensor.name));
}

// A memory-mapped file of tensors, read on demand.
struct MappedTensors {
  explicit MappedTensors(const std::filesystem::path& path)
      : file(path), tensors(safetensors_views(file.bytes(), path.string())), metadata(read_metadata(path)) {}

  MappedFile file;
  std::vector<TensorView> tensors;
  std::map<std::string, std::string> metadata;
};

// The stored values of `named`, in its order, float32; no copy if they are stored that way. Checks every name, shape
// and value.
std::vector<torch::Tensor> values_of(const std::filesystem::path& path, const MappedTensors& file,
                                     const NamedTensors& named) {
  std::map<std::string, const TensorView*> stored;
  for (const TensorView& tensor : file.tensors) stored[tensor.name] = &tensor;
  std::vector<torch::Tensor> values;
  for (const auto& [name, tensor] : named) {
    const auto found = stored.find(name);
    if (found == stored.end()) throw SafetensorsError(fmt::format("{}: tensor {} is missing", path.string(), name));
    const TensorView& bytes = *found->second;
    if (bytes.shape != tensor.sizes().vec()) {
      throw SafetensorsError(fmt::format("{}: tensor {} has shape [{}], the configuration asks for [{}]", path.string(),
                                         name, fmt::join(bytes.shape, ", "), fmt::join(tensor.sizes().vec(), ", ")));
    }
    // from_blob has no const form; the data is only read.
    void* data = const_cast<char*>(bytes.bytes.data());
    values.push_back(torch::from_blob(data, bytes.shape, scalar_type(path, bytes)).to(torch::kFloat32));
    if (!is_finite(values.back())) {
      throw SafetensorsError(fmt::format("{}: tensor {} contains a value that is not finite", path.string(), name));
    }
    MappedFile::release(bytes.bytes);  // until it is copied
    stored.erase(found);
  }
  if (!stored.empty()) {
    throw SafetensorsError(
        fmt::format("{}: tensor {} does not belong to this model", path.string(), stored.begin()->first));
  }
  return values;
}

void copy_into(const NamedTensors& named, const std::vector<torch::Tensor>& values) {
  torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < named.size(); ++i) torch::Tensor(named[i].second).copy_(values[i]);
}

std::uint64_t checksum_of(const NamedTensors& named) {
  std::uint64_t sum = 0;
  for (const auto& [name, tensor] : named) sum = checksum(bytes_of(tensor), checksum(name, sum));
  return sum;
}

std::int64_t count_of(const std::filesystem::path& path, const MappedTensors& file, const char* key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) return 0;  // weights from another program
  std::int64_t count = -1;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0 || count > largest_step) {
    throw SafetensorsError(fmt::format("{}: metadata {} is \"{}\", expected a whole number from 0 to {}", path.string(),
                                       key, text, largest_step));
  }
  return count;
}

}  // namespace

std::optional<torch::ScalarType> floating_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::F64:
      return torch::kFloat64;
    case Dtype::F32:
      return torch::kFloat32;
    case Dtype::F16:
      return torch::kFloat16;
    case Dtype::BF16:
      return torch::kBFloat16;
    default:
      return std::nullopt;
  }
}

std::string first_not_finite(SequenceModel& model) {
  for (const auto& [name, tensor] : weights_of(model))
    if (!is_finite(tensor)) return name;
  return "";
}

bool is_finite(const torch::Tensor& values) {
  return std::isfinite(values.sum().item<double>()) || values.isfinite().all().item<bool>();
}

void save_weights(const std::filesystem::path& path, SequenceModel& model, std::int64_t step) {
  save_tensors(path, weights_of(model), step);
}

void save_tensors(const std::filesystem::path& path, const NamedTensors& tensors, std::int64_t step) {
  save(path, tensors, {{"step", std::to_string(step)}});
}

void save_derived(const std::filesystem::path& path, const NamedTensors& tensors, const std::string& label) {
  save(path, tensors, {{"of", label}, {"checksum", std::to_string(checksum_of(tensors))}});
}

bool load_derived(const std::filesystem::path& path, const NamedTensors& tensors, const std::string& label) {
  try {
    MappedTensors file(path);
    if (file.metadata["of"] != label) return false;
    const std::vector<torch::Tensor> values = values_of(path, file, tensors);
    NamedTensors stored = tensors;
    for (std::size_t i = 0; i < stored.size(); ++i) stored[i].second = values[i];
    if (file.metadata["checksum"] != std::to_string(checksum_of(stored))) return false;
    copy_into(tensors, values);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::uint64_t checksum_of(SequenceModel& model) {
  return checksum_of(weights_of(model));
}

std::int64_t step_of_weights(const std::filesystem::path& path) {
  return count_of(path, MappedTensors(path), "step");
}

std::int64_t load_weights(const std::filesystem::path& path, SequenceModel& model) {
  const MappedTensors file(path);
  const std::int64_t step = count_of(path, file, "step");
  copy_into(weights_of(model), values_of(path, file, weights_of(model)));
  return step;
}

void load_mean_weights(std::span<const std::filesystem::path> paths, SequenceModel& model) {
  const NamedTensors named = weights_of(model);
  std::vector<torch::Tensor> mean;
  for (const auto& [name, tensor] : named) mean.push_back(torch::zeros(tensor.sizes(), torch::kFloat32));
  for (const std::filesystem::path& path : paths) {
    const MappedTensors file(path);
    const std::vector<torch::Tensor> values = values_of(path, file, named);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i].add_(values[i]);
  }
  for (torch::Tensor& sum : mean) sum.div_(static_cast<double>(paths.size()));
  copy_into(named, mean);
}

void save_optimizer(const std::filesystem::path& path, Adam& optimizer, std::int64_t step) {
  save(path, optimizer.state(), {{"step", std::to_string(step)}, {"updates", std::to_string(optimizer.updates())}});
}

std::int64_t load_optimizer(const std::filesystem::path& path, Adam& optimizer) {
  const MappedTensors file(path);
  const std::int64_t step = count_of(path, file, "step");
  const std::int64_t updates = count_of(path, file, "updates");
  copy_into(optimizer.state(), values_of(path, file, optimizer.state()));
  optimizer.set_updates(updates);
  return step;
}

}  // namespace attnscope
