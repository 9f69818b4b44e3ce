// The activations of one forward pass by name, and the first that is NaN or infinite.
#pragma once

#include <functional>
#include <string>

#include "model/model.h"

namespace attnscope {

// Visits every activation in the order of the pass, B×…; source: int64 B×S, undefined for a language model; target_in:
// int64 B×T. No padding.
void visit_activations(SequenceModel& model, const torch::Tensor& source, const torch::Tensor& target_in,
                       const std::function<void(const std::string& name, const torch::Tensor& value)>& visit);

// "the weight X" or "the activation X", the first of that pass that is not finite; empty if all are.
std::string overflowing(SequenceModel& model, const torch::Tensor& source, const torch::Tensor& target_in);

// The same for a pass over tokens from the whole vocabulary: large weights make activations overflow on any text.
std::string overflowing(SequenceModel& model);

}  // namespace attnscope
