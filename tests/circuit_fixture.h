// Results of circuit studies, without a model.
#pragma once

#include <string>
#include <vector>

#include "messages/attribution.h"
#include "messages/circuit.h"

namespace attnscope {

// One layer: head 2 brings the difference from the third word to the second, and the decoder's head 1 reads it; head 1
// is a decoy.
Circuit fixture_circuit(const std::vector<Slot>& words, int pairs);

// By an exchange or along a path, every share of the heads that read.
Sweep fixture_sweep(ContrastSide of, const SweepQuestion& asked, float share);

// For this sentence and a contrast sentence.
CircuitResult fixture_result(const std::string& sentence);

// One layer with two heads over three input tokens; "il" is the second of two output tokens.
AttributionResult fixture_attribution(const AttributionQuestion& question);

}  // namespace attnscope
