// What a study of a circuit would find, without a model behind it.
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

// Of that sentence and a twin.
CircuitResult fixture_result(const std::string& sentence);

// Of one layer with two heads that read three pieces; "il" is the last of two pieces written.
AttributionResult fixture_attribution(const AttributionQuestion& question);

}  // namespace attnscope
