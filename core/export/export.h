// A model for other programs.
#pragma once

#include <filesystem>

#include "model/model.h"
#include "plain/config.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// What is given away: the model stands still, on the CPU.
struct Exported {
  const Config& config;
  SequenceModel& model;
  const Tokenizer& tokenizer;
};

// Makes the folder, and its parents. Throws FileError if it is there and not empty, so that nobody's file is replaced.
void make_empty_folder(const std::filesystem::path& folder);

// These write into such a folder. They throw FileError, and CheckpointError or TokenizerError, naming the field, for a
// model that cannot be told in that form.

// As HuggingFace's transformers has such models (core/checkpoints): config.json, model.safetensors, tokenizer.
void export_checkpoint(const Exported& run, const std::filesystem::path& folder);

// The model as a program that needs attnscope no more, and the tokenizer's files as they are: model.pt, a TorchScript
// module (torchscript.h), or model.onnx (onnx.h).
void export_torchscript(const Exported& run, const std::filesystem::path& folder);
void export_onnx(const Exported& run, const std::filesystem::path& folder);

}  // namespace attnscope
