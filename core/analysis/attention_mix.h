// Aggregates attention maps over heads, layers, and the tokens of words.
#pragma once

#include <span>
#include <vector>

#include "analysis/attention_measures.h"
#include "common/matrix.h"
#include "messages/snapshot.h"

namespace attnscope {

// Cell by cell over maps of one shape. The rows of a mean sum to 1, those of a maximum to at least 1. Without maps: an
// empty matrix.
Matrix mean_map(std::span<const Matrix* const> maps);
Matrix max_map(std::span<const Matrix* const> maps);

// Attention rollout, including residuals (Abnar & Zuidema, arXiv 2005.00928 §3): Ã_1 = A_1, Ã_l = A_l Ã_{l−1}, with A =
// ½ W + ½ I and W a layer's mean over heads; A = I if W is 0, as in a skipped layer. Over layers 0…last.
Matrix rollout(const AttentionMaps& maps, int last);

// Rollout by one more layer; `before` is empty for the first one.
Matrix rolled_through(const Matrix& before, std::span<const Matrix> heads);

// Merges tokens into words (Clark et al., arXiv 1906.04341 §4.1): weights are summed over a key word's tokens and
// averaged over a query word's. Rows still sum to 1.
Matrix merged(const Matrix& map, std::span<const WordSpan> queries, std::span<const WordSpan> keys);

// Returns after − before; both have the same shape.
Matrix difference(const Matrix& after, const Matrix& before);

// Returns the positive cells of a map, or the absolute values of the negative ones; all others are 0.
Matrix gains(const Matrix& map);
Matrix losses(const Matrix& map);

// Returns pointers to all of them.
std::vector<const Matrix*> all_of(std::span<const Matrix> heads);
std::vector<const Matrix*> all_of(const AttentionMaps& maps);

}  // namespace attnscope
