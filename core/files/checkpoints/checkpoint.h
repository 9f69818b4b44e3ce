// Checkpoints of other programs: a folder in the format of HuggingFace's transformers, with config.json,
// model.safetensors (or its shards) and tokenizer files. Each family is described by data in a file of its own: its
// fields become a Config, its tensors a Transformer's parameters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "config/config.h"
#include "files/storage/mapped_file.h"
#include "files/storage/safetensors.h"

namespace attnscope {

// A checkpoint that cannot be opened: unknown family, unsupported field or value, missing tensor or wrong shape. The
// message names the file, the field or tensor, and the allowed values.
class CheckpointError : public Error {
 public:
  using Error::Error;
};

// The conversion of a stored tensor to a parameter, or to some of its rows.
enum class TensorChange {
  none,
  transposed,   // Conv1D stores in × out
  interleaved,  // a head's rows i and i + r/2 become 2i and 2i + 1: converts RoPE on halves to RoPE on pairs
  by_head,      // queries, keys and values of one head after another: becomes all queries, all keys, all values
  flattened,    // a vector that may be stored as a one-row matrix
};

struct TensorPart {
  std::vector<std::string> names;  // the first one that is stored is used
  std::int64_t rows = 0;           // of the parameter; 0: all
  TensorChange change = TensorChange::none;
  std::int64_t skipped = 0;  // stored rows in front, which are not used
  double added = 0;          // Gemma's norms multiply by 1 + w
  // Names of a stored matrix by which the rows are multiplied: OPT's projections of narrow embeddings.
  std::vector<std::string> times = {};
};

// A parameter or buffer of the model, and the tensors that are stacked in it.
struct TensorRow {
  std::string parameter;
  std::vector<TensorPart> parts;
  bool optional = false;  // keeps its initial value if they are not stored
};

struct CheckpointPlan {
  Config config;
  std::vector<TensorRow> tensors;
};

// Returns true for a folder whose config.json names a model_type, or is not that of a run, and for a folder of such
// folders (trainings.h): it can be opened, or an error can say why not. Never throws.
bool is_checkpoint(const std::filesystem::path& folder);

bool has_weights(const std::filesystem::path& folder);

// The folder with the files of the model that is named: for a folder of Hugging Face's cache (models--NAME--NAME) the
// snapshot in it, for a training its last step, otherwise `path`. Throws CheckpointError for models that cannot be
// opened, with what helps: a LoRA adapter, a GGUF file, a pickle without safetensors, a single file.
std::filesystem::path model_folder(const std::filesystem::path& path);

// Converts its config.json (and the decoding fields of generation_config.json). Throws CheckpointError and FileError.
CheckpointPlan plan_checkpoint(const std::filesystem::path& folder);

// ---- export

// The contents of such a folder for a model.
struct CheckpointFormat {
  std::string family;              // "marian"
  std::string config;              // the text of config.json
  std::string decoding;            // of generation_config.json
  std::vector<TensorRow> tensors;  // each under its first name
};

// Chooses the family that can represent the model; plan_checkpoint can read the result. `vocab_size` is the size of the
// model's embedding matrix. Throws CheckpointError if there is none, naming for each family a field that does not fit.
CheckpointFormat checkpoint_format(const Config& config, std::int64_t vocab_size);

// The weights of a folder, memory-mapped: read only when accessed.
class CheckpointTensors {
 public:
  // Throws CheckpointError, SafetensorsError and FileError.
  explicit CheckpointTensors(const std::filesystem::path& folder);

  // Returns null if there is none of that name.
  const TensorView* find(std::string_view name) const;

  // Allows its bytes to leave memory.
  static void release(const TensorView& tensor) { MappedFile::release(tensor.bytes); }

 private:
  void add_file(const std::filesystem::path& path);

  std::vector<MappedFile> files_;
  std::map<std::string, TensorView, std::less<>> tensors_;
};

}  // namespace attnscope
