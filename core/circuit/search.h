// The circuit: which attention carries the difference between two sentences, and by which heads at which words.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "circuit/contrast_runs.h"
#include "plain/callbacks.h"
#include "plain/circuit.h"

namespace attnscope {

// A pair to be counted over. Of all pairs of one search slot i means the same.
struct ContrastCase {
  std::shared_ptr<const ContrastRuns> runs;
  std::vector<Slot> slots;  // of the source, or of a language model's text
};

// Slots for one pair: its words, and of a language model the step.
ContrastCase case_of(std::shared_ptr<const ContrastRuns> runs);

// The fewest heads × words, by taking the best one after another and then leaving out whatever is not needed, over at
// least one pair; `progress` is called between passes. Circuit::problem says why there is nothing to be found.
Circuit find_circuit(const std::vector<ContrastCase>& cases, const FractionCallback& progress = {});

// What each of `changes` does in all cases; called, it gives those of one case.
using ChangesOf = std::function<std::vector<Change>(const ContrastCase&)>;
ChangesOf changes_of(const Circuit& circuit, const Place& place);
ChangesOf changes_of(const Circuit& circuit, const CircuitEdge& edge);  // its members

// The heads of a hop as the end of a path, in one case.
PathEnd end_of(const ContrastCase& it, const Circuit& circuit, const CircuitEdge& edge);

std::vector<Tally> tallies_of(const std::vector<ContrastCase>& cases, const std::vector<ChangesOf>& changes,
                              const YieldCallback& yield = {});

}  // namespace attnscope
