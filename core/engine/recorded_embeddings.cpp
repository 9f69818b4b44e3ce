#include "engine/recorded_embeddings.h"

#include <fmt/format.h>

#include <iterator>
#include <limits>

#include "storage/safetensors.h"

namespace attnscope {
namespace {

std::size_t bytes_of(const std::map<std::string, torch::Tensor>& rows) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : rows) bytes += tensor.nbytes();
  return bytes;
}

}  // namespace

void RecordedEmbeddings::find_in(const RunFolder& folder, std::int64_t step) {
  for (const std::int64_t kept : kept_steps(folder))
    if (kept < step) steps_[kept].file = folder.kept_weights(kept);
}

void RecordedEmbeddings::record(const SequenceModel& model, std::int64_t step) {
  Step& present = steps_[step];
  present = {};
  for (const EmbeddingMatrix matrix : embedding_matrices(model.config())) {
    present.rows[embedding_parameter(matrix, model.config())] =
        model.embedding_rows(matrix).to(torch::kCPU, torch::kFloat16, false, true);
  }
  thin();
}

void RecordedEmbeddings::thin() {
  std::size_t bytes = 0;
  std::vector<std::int64_t> in_memory;
  for (const auto& [step, kept] : steps_) {
    bytes += bytes_of(kept.rows);
    if (!kept.rows.empty()) in_memory.push_back(step);
  }
  while (bytes > budget_ && in_memory.size() > 2) {
    std::size_t least = 1;
    for (std::size_t i = 2; i + 1 < in_memory.size(); ++i)
      if (in_memory[i + 1] - in_memory[i - 1] < in_memory[least + 1] - in_memory[least - 1]) least = i;
    bytes -= bytes_of(steps_[in_memory[least]].rows);
    steps_.erase(in_memory[least]);
    in_memory.erase(in_memory.begin() + static_cast<std::ptrdiff_t>(least));
  }
}

std::vector<std::int64_t> RecordedEmbeddings::steps() const {
  std::vector<std::int64_t> all;
  for (const auto& [step, kept] : steps_) all.push_back(step);
  return all;
}

torch::Tensor RecordedEmbeddings::rows(std::int64_t step, EmbeddingMatrix matrix, const ModelConfig& config) const {
  const Step& kept = steps_.at(step);
  const std::string name = embedding_parameter(matrix, config);
  if (!kept.rows.empty()) return kept.rows.at(name);
  const Safetensors file = read_safetensors(kept.file);
  const TensorBytes& stored = file.at(name);
  if (stored.dtype != Dtype::F32 || stored.shape.size() != 2)
    throw SafetensorsError(fmt::format("{}: tensor {} is no matrix of float32", kept.file.string(), name));
  // Only read through, and copied before the file goes: from_blob has no const form.
  return torch::from_blob(const_cast<char*>(stored.bytes.data()), stored.shape, torch::kFloat32).clone();
}

}  // namespace attnscope
