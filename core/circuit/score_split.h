// Why a head looks at a word: its score, taken apart.
#pragma once

#include "circuit/contrast_runs.h"
#include "plain/circuit.h"

namespace attnscope {

// The residual stream is a sum, and with the layer norms' scales held fast what a query and a key are made of it stays
// one (Elhage et al. 2021, A Mathematical Framework for Transformer Circuits). RoPE turns each of its parts alike; what
// vectors or biases tell of the distance is a part of its own on the key's side.
ScoreSplit split_score(const ContrastRuns& runs, const ScoreQuestion& question);

}  // namespace attnscope
