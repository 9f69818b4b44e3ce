// What the embeddings looked like over training: kept in memory while a run is trained, and read from the older weights
// that a run's folder keeps (training.kept_checkpoints).
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "model/model.h"
#include "storage/run_folder.h"

namespace attnscope {

class RecordedEmbeddings {
 public:
  // Bytes of the rows in memory; the first and the last stay whatever they take.
  explicit RecordedEmbeddings(std::size_t budget = std::size_t{128} << 20) : budget_(budget) {}

  // Older weights in the folder, of steps before `step`; they are read when they are asked for.
  void find_in(const RunFolder& folder, std::int64_t step);

  // The present ones, as float16. Above the budget that step goes whose neighbours are the closest.
  void record(const SequenceModel& model, std::int64_t step);

  std::vector<std::int64_t> steps() const;  // ascending

  // V×D of a step that there is. Throws FileError, and SafetensorsError for a file that holds no such matrix.
  torch::Tensor rows(std::int64_t step, EmbeddingMatrix matrix, const ModelConfig& config) const;

 private:
  struct Step {
    std::map<std::string, torch::Tensor> rows;  // by parameter; none: in the file
    std::filesystem::path file;
  };
  void thin();

  std::size_t budget_;
  std::map<std::int64_t, Step> steps_;
};

}  // namespace attnscope
