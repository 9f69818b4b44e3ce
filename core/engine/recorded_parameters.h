// Parameters as they were over training: kept in memory while a run is trained, and read from the older weights that a
// run's folder keeps (training.kept_checkpoints).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kernels/libtorch.h"
#include "model/model.h"
#include "storage/run_folder.h"

namespace attnscope {

// A step's tensors by the names of state_dict, on the CPU.
using RecordedTensors = std::map<std::string, torch::Tensor>;

class RecordedParameters {
 public:
  // Bytes of the tensors in memory, and steps that have some; the first and the last step stay whatever they take.
  explicit RecordedParameters(std::size_t budget = std::size_t{128} << 20, std::size_t most_steps = 1000)
      : budget_(budget), most_steps_(most_steps) {}

  // Older weights in the folder, of steps before `step`; they are read when they are asked for.
  void find_in(const RunFolder& folder, std::int64_t step);

  // Above either that step goes whose neighbours are the closest.
  void record(std::int64_t step, RecordedTensors tensors);

  std::vector<std::int64_t> steps() const;  // ascending

  // Of a step that there is. Throws FileError, and SafetensorsError for a file that holds no such matrix.
  torch::Tensor matrix(std::int64_t step, const std::string& name) const;

  // The model becomes what it was at a step that there is, of which all parameters were recorded. Errors as
  // load_weights; the model is then unchanged.
  void restore(std::int64_t step, SequenceModel& model) const;

 private:
  struct Step {
    RecordedTensors tensors;  // none: in the file
    std::filesystem::path file;
  };
  void thin();

  std::size_t budget_;
  std::size_t most_steps_;
  std::map<std::int64_t, Step> steps_;
};

std::size_t bytes_of(const RecordedTensors& tensors);

// The embeddings, as float16: enough for a map and for neighbours, and less than a tenth of small models' weights.
RecordedTensors copied_embeddings(const SequenceModel& model);

// All parameters, as they are.
RecordedTensors copied_parameters(const SequenceModel& model);

}  // namespace attnscope
