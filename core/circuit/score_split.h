// Why a head looks at a word: its score, taken apart.
#pragma once

#include "circuit/twin_runs.h"
#include "plain/circuit.h"

namespace attnscope {

// The residual stream is a sum, and with the layer norms' scales held fast what a query and a key are made of it stays
// one (Elhage et al. 2021, A Mathematical Framework for Transformer Circuits). A model whose scores depend on the
// distance as well has a problem instead.
ScoreSplit split_score(const TwinRuns& runs, const ScoreQuestion& question);

}  // namespace attnscope
