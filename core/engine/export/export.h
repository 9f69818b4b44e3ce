// Exports a model for other programs.
#pragma once

#include <filesystem>

#include "config/config.h"
#include "data/tokenizer/tokenizer.h"
#include "model/model.h"

namespace attnscope {

// The exported model: frozen, on the CPU.
struct Exported {
  const Config& config;
  SequenceModel& model;
  const Tokenizer& tokenizer;
};

// Creates the folder and its parents. Throws FileError if it exists and is not empty, so that no file is overwritten.
void make_empty_folder(const std::filesystem::path& folder);

// These functions write into such a folder. They throw FileError, and for a model that the format cannot represent
// CheckpointError or TokenizerError naming the field.

// In the format of HuggingFace's transformers (core/files/checkpoints): config.json, model.safetensors, tokenizer.
void export_checkpoint(const Exported& run, const std::filesystem::path& folder);

// The model as a standalone program, with the tokenizer's files: model.pt, a TorchScript module (torchscript.h), or
// model.onnx (onnx.h).
void export_torchscript(const Exported& run, const std::filesystem::path& folder);
void export_onnx(const Exported& run, const std::filesystem::path& folder);

}  // namespace attnscope
