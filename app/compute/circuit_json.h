// The JSON output of the explain command, and names of words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inspect/circuit/corpus_contrasts.h"
#include "inspect/circuit/search.h"
#include "messages/circuit.h"

namespace attnscope {

std::string words_text(const Circuit& circuit, const std::vector<int>& slots);  // "it, tired"

// Layers and heads are counted from 1, positions from 0.
nlohmann::ordered_json facts_json(const ContrastFacts& facts);
nlohmann::ordered_json pairs_json(const CorpusCases& found);
nlohmann::ordered_json sweep_json(const Sweep& sweep);

// Path patching into each edge's heads, and swapping two words' attention in every head; in both directions.
nlohmann::ordered_json paths_json(const ContrastCase& it, const Circuit& circuit);
nlohmann::ordered_json exchange_json(const ContrastCase& it, const std::vector<int>& words);

nlohmann::ordered_json circuit_json(const Circuit& circuit);
nlohmann::ordered_json formation_json(const Formation& formation);  // the parts: the last position, then the edges

nlohmann::ordered_json score_json(const ScoreSplit& split, const ContrastFacts& facts);

// The margins (answer − contrast answer) under a set of named interventions at the words `at` (slots): one object per
// sentence for a single pair, or mean shares and counts for many. `exchanged`: empty, or the slots of two words.
nlohmann::ordered_json figures_json(const std::vector<ContrastCase>& cases, const std::vector<int>& at,
                                    const std::vector<int>& exchanged);

}  // namespace attnscope
