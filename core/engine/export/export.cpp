#include "engine/export/export.h"

#include <fmt/format.h>

#include "data/tokenizer/families.h"
#include "engine/checkpoint_weights.h"
#include "engine/export/onnx.h"
#include "engine/export/torchscript.h"
#include "files/checkpoints/checkpoint.h"
#include "files/storage/file.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

void write_tokenizer(const TokenizerFiles& files, const fs::path& folder) {
  for (const auto& [name, bytes] : files) write_file(folder / name, bytes);
}

void write_program(const Exported& run, const fs::path& folder, const char* name, const std::string& bytes) {
  make_empty_folder(folder);
  write_tokenizer(run.tokenizer.files(), folder);
  write_file(folder / name, bytes);
}

}  // namespace

void make_empty_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw FileError(fmt::format("{}: {}", folder.string(), error.message()));
  if (!fs::is_empty(folder, error) || error)
    throw FileError(fmt::format("{} is not empty: choose another folder", folder.string()));
}

void export_checkpoint(const Exported& run, const fs::path& folder) {
  const CheckpointFormat format = checkpoint_format(run.config, run.model.vocab_size());
  const TokenizerFiles tokenizer = files_for_family(format.family, run.config.tokenizer.family, run.tokenizer);
  make_empty_folder(folder);
  write_tokenizer(tokenizer, folder);
  write_safetensors(folder / "model.safetensors", checkpoint_tensors(format.tensors, run.model));
  write_file(folder / "generation_config.json", format.decoding);
  write_file(folder / "config.json", format.config);  // last: without it the folder is not a valid checkpoint
}

void export_torchscript(const Exported& run, const fs::path& folder) {
  write_program(run, folder, "model.pt", torchscript_bytes(run.model));
}

void export_onnx(const Exported& run, const fs::path& folder) {
  write_program(run, folder, "model.onnx", onnx_bytes(run.model));
}

}  // namespace attnscope
