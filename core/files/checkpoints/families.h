// The supported families, one file each.
#pragma once

#include <array>
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

CheckpointPlan marian_plan(const CheckpointFields& fields);   // also BART, mBART, M2M-100, Pegasus
CheckpointPlan llama_plan(const CheckpointFields& fields);    // also Mistral, Qwen, Gemma
CheckpointPlan decoder_plan(const CheckpointFields& fields);  // GPT-NeoX, GPT-Neo, Phi, OPT, BLOOM
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

// Activations of families without gates.
inline constexpr std::array activations = {
    OtherName{"gelu-tanh", "gelu_new"},  OtherName{"gelu-tanh", "gelu_pytorch_tanh"},
    OtherName{"gelu-tanh", "gelu_fast"}, OtherName{"gelu", "gelu"},
    OtherName{"relu", "relu"},           OtherName{"swish", "silu"},
    OtherName{"swish", "swish"}};

// Base, scaling and rotated width of RoPE, and the maximum length, from config.json. `base` and `share` name fields of
// older files; by default all of a head is rotated.
void read_rope(const CheckpointFields& fields, ModelConfig& model, const char* base = "rope_theta",
               const char* share = "partial_rotary_factor", double default_share = 1);

// The value named by `field` of one of these names. Throws CheckpointError listing the names.
std::string own_name(const CheckpointFields& fields, const char* field, std::span<const OtherName> names,
                     std::string_view value);

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

// Layers with a window (true): sets model.window_layers to their shortest repeated pattern, or no window if there are
// none.
void set_windows(ModelConfig& model, std::int64_t window, const std::vector<bool>& layers);

// A norm, whose parameters are named weight and bias in both; RMSNorms have no bias.
void add_norm(std::vector<TensorRow>& tensors, const std::string& parameter, const std::string& name, bool bias);

// One unconverted tensor, the first of `names` that is stored.
void add_tensor(std::vector<TensorRow>& tensors, const std::string& parameter, std::vector<std::string> names,
                bool optional = false);

}  // namespace attnscope
