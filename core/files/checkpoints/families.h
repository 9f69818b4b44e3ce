// The supported families, one file each.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/checkpoints/checkpoint.h"
#include "files/checkpoints/fields.h"

namespace attnscope {

// A rotary model accepts longer texts than maps can be shown for: its context is limited to this.
inline constexpr std::int64_t longest_context = 4096;

CheckpointPlan marian_plan(const CheckpointFields& fields);
CheckpointPlan llama_plan(const CheckpointFields& fields);
CheckpointPlan gpt2_plan(const CheckpointFields& fields);
CheckpointPlan t5_plan(const CheckpointFields& fields);       // also mT5
CheckpointPlan encoder_plan(const CheckpointFields& fields);  // BERT and its relatives

// Export: config.json without the fields common to all families. For a model outside the family the closest match; its
// plan then describes another model.
nlohmann::json marian_fields(const ModelConfig& model);
nlohmann::json llama_fields(const ModelConfig& model);
nlohmann::json gpt2_fields(const ModelConfig& model);
nlohmann::json t5_fields(const ModelConfig& model);

// A name in the other program for the value called `own` here; the first of a table is the default.
struct OtherName {
  std::string_view own, theirs;
};
std::string other_name(std::span<const OtherName> names, std::string_view own);

// The common initial configuration: own vocabulary, no corpus, no dropout.
Config checkpoint_config(const CheckpointFields& fields, const char* family);

// Returns the configuration after checking it, so that tensors can be enumerated from its fields. Throws ConfigError.
Config checked(Config config);

// The linear map `parameter` (without ".weight" and ".bias"), stored in parts whose names have the same endings.
struct LinearPart {
  std::string name;
  std::int64_t rows = 0;
  TensorChange change = TensorChange::none;
};
void add_linear(std::vector<TensorRow>& tensors, const std::string& parameter, const std::vector<LinearPart>& parts,
                bool bias);

// in_proj of an attention: `prefix` ends in its name, and `names` are those of queries, keys and values.
void add_projections(std::vector<TensorRow>& tensors, const std::string& attention, const std::string& prefix,
                     const ModelConfig& model, TensorChange turned = TensorChange::none);

// A norm, whose parameters are named weight and bias in both; RMSNorms have no bias.
void add_norm(std::vector<TensorRow>& tensors, const std::string& parameter, const std::string& name, bool bias);

// One unconverted tensor, the first of `names` that is stored.
void add_tensor(std::vector<TensorRow>& tensors, const std::string& parameter, std::vector<std::string> names,
                bool optional = false);

}  // namespace attnscope
