// Other programs' checkpoints: a folder as HuggingFace's transformers writes it, with config.json, model.safetensors
// (or shards of it) and a tokenizer's files. What is peculiar to a family stands in one file a family, as data: its
// fields become a Config, its tensors a Transformer's parameters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plain/config.h"
#include "plain/error.h"
#include "storage/mapped_file.h"
#include "storage/safetensors.h"

namespace attnscope {

// A checkpoint that cannot be opened: another family, a field or value that is not supported, a tensor that is missing
// or of another shape. The message names the file and the field or tensor, and what is allowed.
class CheckpointError : public Error {
 public:
  using Error::Error;
};

// How a stored tensor becomes a parameter, or a part of its rows.
enum class TensorChange {
  none,
  transposed,   // Conv1D keeps in × out
  interleaved,  // a head's rows i and i + d/2 become 2i and 2i + 1: RoPE by halves, told to a model of pairs
  flattened,    // a vector that may be stored as a matrix of one row
};

struct TensorPart {
  std::vector<std::string> names;  // the first that is stored
  std::int64_t rows = 0;           // of the parameter; 0: all
  TensorChange change = TensorChange::none;
};

// A parameter, or buffer, of the model, and the tensors that lie one above the other in it.
struct TensorRow {
  std::string parameter;
  std::vector<TensorPart> parts;
  bool optional = false;  // it stays as it was made where they are not stored
};

struct CheckpointPlan {
  Config config;
  std::vector<TensorRow> tensors;
};

// True for a folder whose config.json names a model_type, or is not a run's and no more: then there is something to be
// said about it. Never throws.
bool is_checkpoint(const std::filesystem::path& folder);

// What its config.json (and, for what concerns decoding, generation_config.json) asks for. Throws CheckpointError and
// FileError.
CheckpointPlan plan_checkpoint(const std::filesystem::path& folder);

// ---- the other way

// How a model is written as such a folder.
struct CheckpointFormat {
  std::string family;              // "marian"
  std::string config;              // the text of config.json
  std::string decoding;            // of generation_config.json
  std::vector<TensorRow> tensors;  // each under the first of its names
};

// Of the family that has such models; it can be read back by plan_checkpoint. `vocab_size` is that of the model's
// table. Throws CheckpointError where there is none, naming for each family a field that does not fit.
CheckpointFormat checkpoint_format(const Config& config, std::int64_t vocab_size);

// The weights of a folder, mapped: nothing is read before it is looked at.
class CheckpointTensors {
 public:
  // Throws CheckpointError, SafetensorsError and FileError.
  explicit CheckpointTensors(const std::filesystem::path& folder);

  // Null if there is none of that name.
  const TensorView* find(std::string_view name) const;

  // Its bytes need not stay in memory.
  static void release(const TensorView& tensor) { MappedFile::release(tensor.bytes); }

 private:
  void add_file(const std::filesystem::path& path);

  std::vector<MappedFile> files_;
  std::map<std::string, TensorView, std::less<>> tensors_;
};

}  // namespace attnscope
