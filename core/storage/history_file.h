// history.safetensors: the pinned sentences of a run with every frame of theirs.
//
// A frame's numbers are tensors named <sentence>/<step>/<what>, the sentence by its place among the pinned ones. F32:
// encoder [L,H,S,S], decoder [L,H,T,T] and cross [L,H,T,S], each only where the model has it; entropies [T], and logits
// and probabilities of all candidates of all steps, one after the other, of which candidate_counts [T] says how many
// are each step's. I32: source, target_in, target_out, candidates and chosen. All but `chosen` and `candidate_counts`
// refer to the tokens in the metadata. That is "history", JSON:
// {"version":1,"tokens":[[id,piece],…],"sentences":[{"text":…,"frames":[{"step":…,"output":…,…},…]},…]}
#pragma once

#include <cstdint>
#include <filesystem>

#include "plain/config.h"
#include "plain/history.h"

namespace attnscope {

// Replaces the file as a whole; throws FileError.
void save_history(const std::filesystem::path& file, const History& history);

// The history of a run with this model. Its frames are stamped with `run`, the number the run will have in this
// process; all else in them is as it was saved. Throws FileError, and SafetensorsError naming file and frame for
// anything that no history of such a model holds.
History load_history(const std::filesystem::path& file, const ModelConfig& model, std::uint64_t run);

}  // namespace attnscope
