// Decomposes a head's attention score for a word (QK).
#pragma once

#include "inspect/circuit/contrast_runs.h"
#include "messages/circuit.h"

namespace attnscope {

// The residual stream is a sum, and with the layer norms' scales held fixed, queries and keys are sums too (Elhage et
// al. 2021, A Mathematical Framework for Transformer Circuits). RoPE rotates all parts equally; relative vectors or
// biases form a separate part on the key's side.
ScoreSplit split_score(const ContrastRuns& runs, const ScoreQuestion& question);

}  // namespace attnscope
