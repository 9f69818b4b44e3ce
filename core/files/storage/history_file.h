// history.safetensors: the pinned sentences of a run with all their frames.
//
// A frame's numbers are tensors named <sentence>/<step>/<what>; <sentence> is the index among the pinned sentences.
// F32: encoder [L,H,S,S], decoder [L,H,T,T] and cross [L,H,T,S], each only if the model has it; entropies [T]; logits
// and probabilities of all candidates of all steps, concatenated. candidate_counts [T] gives the number per step.
// I32: source, target_in, target_out, candidates and chosen. All but `chosen` and `candidate_counts` are indices of
// tokens in the metadata.
//
// The metadata entry "history" is JSON:
// {"version":1,"tokens":[[id,piece],…],"sentences":[{"text":…,"frames":[{"step":…,"output":…,…},…]},…]}
#pragma once

#include <cstdint>
#include <filesystem>

#include "config/config.h"
#include "messages/history.h"

namespace attnscope {

// Replaces the whole file; throws FileError.
void save_history(const std::filesystem::path& file, const History& history);

// Loads the history of a run with this model. Its frames get `run`, the run's number in this process; all other fields
// are as saved. Throws FileError, and SafetensorsError naming file and frame if the content is invalid for the model.
History load_history(const std::filesystem::path& file, const ModelConfig& model, std::uint64_t run);

}  // namespace attnscope
