// Compares the methods that measure how much every input token matters to an output.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "messages/attribution.h"

namespace attnscope {

// Returns Σ parts.
double parts_sum(const AttributionResult& inspection);

// Returns |Σ integrated − (log p − log p of the baseline)| divided by the latter, which counts as at least 0.001 nats.
double completeness_error(const AttributionResult& inspection);

// Returns the largest error of a token's integrated gradient, relative to the largest integrated gradient.
double integration_error(const AttributionResult& inspection);

// Returns the index in `heads` of the largest absolute contribution to the logit; 0 if the parts are unknown.
std::size_t strongest_head(const AttributionResult& inspection);

// One method of measuring how much every token matters.
struct TokenMethod {
  std::string name;
  std::vector<double> values;  // one per token
};

// Returns deletion, the reference method, first; weights and norms are those of heads[head]. Methods that do not apply
// to this model are omitted.
std::vector<TokenMethod> token_methods(const AttributionResult& inspection, std::size_t head);

// Rank correlations (Spearman) of the absolute token importances between any two methods.
Matrix method_agreement(const std::vector<TokenMethod>& methods);

// Describes in one sentence the effect of deletion and how far each other method agrees with it.
std::string attribution_sentence(const AttributionResult& inspection, std::size_t head);

}  // namespace attnscope
