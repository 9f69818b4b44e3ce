// Several attention maps made into one, and pieces merged into words.
#pragma once

#include <span>
#include <vector>

#include "analysis/attention_measures.h"
#include "plain/matrix.h"
#include "plain/snapshot.h"

namespace attnscope {

// Cell by cell over maps of one shape. A mean's rows still sum to 1; those of a maximum sum to 1 or more. No maps: an
// empty matrix.
Matrix mean_map(std::span<const Matrix* const> maps);
Matrix max_map(std::span<const Matrix* const> maps);

// How much of every input reaches every place through layers of self-attention, residuals counted (Abnar & Zuidema,
// arXiv 2005.00928 §3): Ã_1 = A_1, Ã_l = A_l Ã_{l−1}, with A = ½ W + ½ I and W a layer's mean over its heads; A = I
// where W is 0, as in a layer that is switched off. Through layers 0…last.
Matrix rollout(const AttentionMaps& maps, int last);

// One layer further; `before` is empty below the first.
Matrix rolled_through(const Matrix& before, std::span<const Matrix> heads);

// Words in place of pieces (Clark et al., arXiv 1906.04341 §4.1): weights summed over the pieces of the word that is
// looked at, averaged over those of the word that looks. Rows still sum to 1.
Matrix merged(const Matrix& map, std::span<const WordSpan> queries, std::span<const WordSpan> keys);

// after − before, of one shape.
Matrix difference(const Matrix& after, const Matrix& before);

// The positive cells of a map, and the negative ones without their sign; the rest is 0.
Matrix gains(const Matrix& map);
Matrix losses(const Matrix& map);

// Pointers to all of them.
std::vector<const Matrix*> all_of(std::span<const Matrix> heads);
std::vector<const Matrix*> all_of(const AttentionMaps& maps);

}  // namespace attnscope
