// What the explain command prints.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "circuit/corpus_contrasts.h"
#include "circuit/search.h"
#include "plain/circuit.h"

namespace attnscope {

// Layers and heads are counted from 1, positions from 0.
nlohmann::ordered_json facts_json(const ContrastFacts& facts);
nlohmann::ordered_json pairs_json(const CorpusCases& found);
nlohmann::ordered_json sweep_json(const Sweep& sweep);

// What goes straight to each hop's heads, and what an exchange of two words does in every head; both ways.
nlohmann::ordered_json paths_json(const ContrastCase& it, const Circuit& circuit);
nlohmann::ordered_json exchange_json(const ContrastCase& it, const std::vector<int>& words);

nlohmann::ordered_json circuit_json(const Circuit& circuit);
nlohmann::ordered_json formation_json(const Formation& formation);  // the parts: the last place, then the hops

nlohmann::ordered_json score_json(const ScoreSplit& split, const ContrastFacts& facts);

// The margins, answer − the twin's answer, under a set of named changes at the words `at` (slots): one object a
// sentence of one pair, or the means of shares and the counts over many. `exchanged`: none, or the slots of two words.
nlohmann::ordered_json figures_json(const std::vector<ContrastCase>& cases, const std::vector<int>& at,
                                    const std::vector<int>& exchanged);

}  // namespace attnscope
