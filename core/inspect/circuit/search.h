// Searches the circuit: which attention carries the difference between two sentences, and by which heads at which
// words.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "inspect/circuit/contrast_runs.h"
#include "messages/callbacks.h"
#include "messages/circuit.h"

namespace attnscope {

// One pair for the statistics. In all pairs of one search, slot i has the same meaning.
struct ContrastCase {
  std::shared_ptr<const ContrastRuns> runs;
  std::vector<Slot> slots;  // of the source, or of a language model's text
};

// Slots for one pair: its words, and in a language model the output step.
ContrastCase case_of(std::shared_ptr<const ContrastRuns> runs);

// The smallest set of heads × words, by greedy selection followed by removal of unneeded members, over at least one
// pair; `progress` is called between passes. Circuit::problem says why nothing was found.
Circuit find_circuit(const std::vector<ContrastCase>& cases, const FractionCallback& progress = {});

// Returns the interventions for one case; their effect is measured over all cases.
using ChangesOf = std::function<std::vector<Change>(const ContrastCase&)>;
ChangesOf changes_of(const Circuit& circuit, const Place& place);
ChangesOf changes_of(const Circuit& circuit, const CircuitEdge& edge);  // its members

// The heads of an edge as the end of a path, in one case.
PathEnd end_of(const ContrastCase& it, const Circuit& circuit, const CircuitEdge& edge);

std::vector<Tally> tallies_of(const std::vector<ContrastCase>& cases, const std::vector<ChangesOf>& changes,
                              const YieldCallback& yield = {});

}  // namespace attnscope
