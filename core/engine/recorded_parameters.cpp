#include "engine/recorded_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/checkpoint.h"
#include "engine/checkpoint_weights.h"
#include "files/storage/file.h"
#include "files/storage/safetensors.h"

namespace attnscope {
namespace {

// Errors name the folder.
template <typename Read>
auto in_folder(const std::filesystem::path& folder, const Read& read) {
  try {
    return read();
  } catch (const CheckpointError& error) {
    throw CheckpointError(fmt::format("{}: {}", folder.string(), error.what()));
  }
}

}  // namespace

std::size_t bytes_of(const RecordedTensors& tensors) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : tensors) bytes += tensor.nbytes();
  return bytes;
}

RecordedTensors copied_embeddings(const SequenceModel& model) {
  RecordedTensors rows;
  for (const EmbeddingMatrix matrix : embedding_matrices(model.config())) {
    rows[embedding_parameter(matrix, model.config())] =
        model.embedding_rows(matrix).to(torch::kCPU, torch::kFloat16, false, true);
  }
  return rows;
}

RecordedTensors copied_parameters(const SequenceModel& model) {
  RecordedTensors copies;
  for (const auto& parameter : model.named_parameters()) {
    copies[parameter.key()] = parameter.value().detach().to(torch::kCPU, torch::kFloat32, false, true);
  }
  return copies;
}

void RecordedParameters::find_in(const RunFolder& folder, std::int64_t step) {
  for (const std::int64_t kept : kept_steps(folder))
    if (kept < step) steps_[kept].file = folder.kept_weights(kept);
  std::error_code error;
  if (!std::filesystem::exists(folder.best(), error)) return;
  const std::int64_t best = step_of_weights(folder.best());
  if (best > step) return;  // of a run that was continued from an earlier step
  best_step_ = best;
  newest_step_ = step;
  best_ = {{}, folder.best(), {}};
}

void RecordedParameters::add_checkpoint_step(std::int64_t step, const std::filesystem::path& folder,
                                             std::shared_ptr<const std::vector<TensorRow>> rows) {
  steps_[step] = {{}, folder, std::move(rows)};
}

void RecordedParameters::record_best(std::int64_t step, RecordedTensors tensors) {
  best_step_ = step;
  best_ = {std::move(tensors), {}, {}};
}

void RecordedParameters::best_is_in(const RunFolder& folder) {
  if (best_step_) best_ = {{}, folder.best(), {}};
}

void RecordedParameters::save_best(const std::filesystem::path& file, const RunFolder& folder) const {
  if (best_.tensors.empty()) {
    if (best_.file == folder.best()) return;
    write_file(file, read_file(best_.file, std::numeric_limits<std::size_t>::max()));
  } else {
    save_tensors(file, {best_.tensors.begin(), best_.tensors.end()}, *best_step_);
  }
}

const RecordedParameters::Step& RecordedParameters::at(std::int64_t step) const {
  return step == best_step_ ? best_ : steps_.at(step);
}

void RecordedParameters::record(std::int64_t step, RecordedTensors tensors) {
  steps_[step] = {std::move(tensors), {}, {}};
  thin();
}

void RecordedParameters::thin() {
  std::size_t bytes = 0;
  std::vector<std::int64_t> in_memory;
  for (const auto& [step, kept] : steps_) {
    bytes += bytes_of(kept.tensors);
    if (!kept.tensors.empty()) in_memory.push_back(step);
  }
  while ((bytes > budget_ || in_memory.size() > most_steps_) && in_memory.size() > 2) {
    std::size_t least = 1;
    for (std::size_t i = 2; i + 1 < in_memory.size(); ++i)
      if (in_memory[i + 1] - in_memory[i - 1] < in_memory[least + 1] - in_memory[least - 1]) least = i;
    bytes -= bytes_of(steps_[in_memory[least]].tensors);
    steps_.erase(in_memory[least]);
    in_memory.erase(in_memory.begin() + static_cast<std::ptrdiff_t>(least));
  }
}

std::vector<std::int64_t> RecordedParameters::steps() const {
  std::vector<std::int64_t> all;
  for (const auto& [step, kept] : steps_) all.push_back(step);
  if (best_step_ && best_step_ != newest_step_ && !steps_.contains(*best_step_))
    all.insert(std::ranges::lower_bound(all, *best_step_), *best_step_);
  return all;
}

torch::Tensor RecordedParameters::matrix(std::int64_t step, const std::string& name, const SequenceModel& model) const {
  const Step& kept = at(step);
  if (kept.rows)
    return in_folder(kept.file, [&] {
      return checkpoint_matrix(CheckpointTensors(kept.file), *kept.rows, name, model);
    });
  if (!kept.tensors.empty()) return kept.tensors.at(name);
  const Safetensors file = read_safetensors(kept.file);
  const TensorBytes& stored = file.at(name);
  const std::optional<torch::ScalarType> type = floating_type(stored.dtype);
  if (!type || stored.shape.size() != 2)
    throw SafetensorsError(
        fmt::format("{}: tensor {} is not a matrix of floating-point numbers", kept.file.string(), name));
  // from_blob has no const form; the data is only read, and copied before the file is unmapped.
  const torch::Tensor mapped = torch::from_blob(const_cast<char*>(stored.bytes.data()), stored.shape, *type);
  return mapped.to(torch::kFloat32, false, true);
}

void RecordedParameters::restore(std::int64_t step, SequenceModel& model) const {
  const Step& kept = at(step);
  if (kept.rows)
    return in_folder(kept.file, [&] { load_checkpoint(CheckpointTensors(kept.file), *kept.rows, model); });
  if (kept.tensors.empty()) {
    load_weights(kept.file, model);
    return;
  }
  const torch::NoGradGuard no_grad;
  for (auto& parameter : model.named_parameters()) parameter.value().copy_(kept.tensors.at(parameter.key()));
}

}  // namespace attnscope
