// The families that can be opened, one a file.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoints/checkpoint.h"
#include "checkpoints/fields.h"

namespace attnscope {

// A rotary model reads longer texts than anybody would see maps of: its context is held to this.
inline constexpr std::int64_t longest_context = 4096;

CheckpointPlan marian_plan(const CheckpointFields& fields);
CheckpointPlan llama_plan(const CheckpointFields& fields);
CheckpointPlan gpt2_plan(const CheckpointFields& fields);
CheckpointPlan t5_plan(const CheckpointFields& fields);  // mT5 too

// The other way: config.json without what all families have. Of a model that is not of this family it says what comes
// nearest; the plan of it is then that of another model.
nlohmann::json marian_fields(const ModelConfig& model);
nlohmann::json llama_fields(const ModelConfig& model);
nlohmann::json gpt2_fields(const ModelConfig& model);
nlohmann::json t5_fields(const ModelConfig& model);

// Their name of what is called `own` here; the first if there is none.
struct OtherName {
  std::string_view own, theirs;
};
std::string other_name(std::span<const OtherName> names, std::string_view own);

// What all families begin with: a vocabulary of their own, no corpus, no dropout.
Config checkpoint_config(const CheckpointFields& fields, const char* family);

// The same, in whose fields the tensors can be counted. Throws ConfigError.
Config checked(Config config);

// The linear map `parameter` (without its ".weight" and ".bias"), stored in parts whose names end so, too.
struct LinearPart {
  std::string name;
  std::int64_t rows = 0;
  TensorChange change = TensorChange::none;
};
void add_linear(std::vector<TensorRow>& tensors, const std::string& parameter, const std::vector<LinearPart>& parts,
                bool bias);

// in_proj of an attention: `prefix` ends in its own name, and `names` are of queries, keys and values.
void add_projections(std::vector<TensorRow>& tensors, const std::string& attention, const std::string& prefix,
                     const ModelConfig& model, TensorChange turned = TensorChange::none);

// A norm, whose parameters are called weight and bias in both; RMSNorms have no bias.
void add_norm(std::vector<TensorRow>& tensors, const std::string& parameter, const std::string& name, bool bias);

// One tensor as it is, the first of `names` that is stored.
void add_tensor(std::vector<TensorRow>& tensors, const std::string& parameter, std::vector<std::string> names,
                bool optional = false);

}  // namespace attnscope
