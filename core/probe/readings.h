// The outputs that a sentence can have, side by side.
#pragma once

#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/decodings.h"
#include "plain/probe.h"
#include "plain/snapshot.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

inline constexpr std::int64_t longest_continuation = 48;  // pieces written after a prompt

// Pieces that may be written after this many of source or prompt, a steered prefix of `prefix` pieces among them.
std::int64_t writing_limit(const ModelConfig& model, std::size_t typed, std::size_t prefix);

// For what `whole` shows, which was decoded to its end: beam, samples, lens and the rest. With `whole.changes` made to
// the model. `breathe` is called at every decoded piece of each, and may throw to abandon them.
Decodings find_decodings(SequenceModel& model, const Tokenizer& tokenizer, const Probe& probe, const Snapshot& whole,
                         const Breath& breathe);

}  // namespace attnscope
