// Parameters at earlier steps of training: recorded in memory while a run trains, and read from the older weights in a
// run's folder (training.kept_checkpoints).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/checkpoints/checkpoint.h"
#include "files/storage/run_folder.h"
#include "model/kernels/libtorch.h"
#include "model/model.h"

namespace attnscope {

// A step's tensors by their state_dict names, on the CPU.
using RecordedTensors = std::map<std::string, torch::Tensor>;

class RecordedParameters {
 public:
  // Limits: bytes of tensors in memory, and the number of steps; the first and the last step are always retained.
  explicit RecordedParameters(std::size_t budget = std::size_t{128} << 20, std::size_t most_steps = 1000)
      : budget_(budget), most_steps_(most_steps) {}

  // Registers older weights in the folder, of steps up to `step`, and the best ones; they are read on demand.
  void find_in(const RunFolder& folder, std::int64_t step);

  // Registers the weights of a step in another program's checkpoint, whose tensors are named by `rows`; they are read
  // on demand.
  void add_checkpoint_step(std::int64_t step, const std::filesystem::path& folder,
                           std::shared_ptr<const std::vector<TensorRow>> rows);

  // Above either limit, drops the step with the closest neighbors.
  void record(std::int64_t step, RecordedTensors tensors);

  // Records the weights of the lowest validation loss so far instead of earlier ones. They are never dropped.
  void record_best(std::int64_t step, RecordedTensors tensors);
  std::optional<std::int64_t> best() const { return best_step_; }
  // Writes the best weights to `file`, unless they are already in the folder that it will be moved to. After the move,
  // best_is_in frees their memory.
  void save_best(const std::filesystem::path& file, const RunFolder& folder) const;
  void best_is_in(const RunFolder& folder);

  std::vector<std::int64_t> steps() const;  // ascending

  // A parameter of `model` at a recorded step. Throws FileError, and SafetensorsError or CheckpointError for a file
  // that has no such matrix.
  torch::Tensor matrix(std::int64_t step, const std::string& name, const SequenceModel& model) const;

  // Restores the model of a step at which all parameters were recorded. Throws as load_weights; the model is then
  // unchanged.
  void restore(std::int64_t step, SequenceModel& model) const;

 private:
  struct Step {
    RecordedTensors tensors;  // empty: in the file
    std::filesystem::path file;
    std::shared_ptr<const std::vector<TensorRow>> rows = {};  // of another program's checkpoint, whose folder is `file`
  };
  void thin();
  const Step& at(std::int64_t step) const;

  std::size_t budget_;
  std::size_t most_steps_;
  std::map<std::int64_t, Step> steps_;
  std::optional<std::int64_t> best_step_;
  std::optional<std::int64_t> newest_step_;  // of the folder's newest weights, which are not among the recorded ones
  Step best_;
};

std::size_t bytes_of(const RecordedTensors& tensors);

// The embeddings as float16: enough for a map and neighbors, and less than a tenth of a small model's weights.
RecordedTensors copied_embeddings(const SequenceModel& model);

// All parameters, unconverted.
RecordedTensors copied_parameters(const SequenceModel& model);

}  // namespace attnscope
