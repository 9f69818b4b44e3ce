// Attention as a soft database lookup (§3.2): one query is compared with all keys, and the values are averaged by their
// match, one after the other.
#pragma once

#include <vector>

#include "analysis/head_stages.h"
#include "common/matrix.h"
#include "messages/head_inside.h"

namespace attnscope {

enum class LookupOrder { as_written, by_weight };

struct SoftLookup {
  std::vector<int> keys;       // in row order
  std::vector<float> match;    // q·k as input to the softmax, by row; −∞: masked
  std::vector<float> weights;  // by row; for an exact lookup 1 at the best match and 0 elsewhere
  Matrix values;               // by row: K×d, averaged with the weights
  Matrix sums;                 // by row: K×d, cumulative Σ weight · value
  std::vector<float> output;   // d: the last row of the sums

  // The row of the best match; −1 if every key is masked.
  int best = -1;
};

// `stages` must use the head's own mask. `exact`: a hard maximum instead of the softmax.
SoftLookup soft_lookup(const HeadInside& head, const HeadStages& stages, int query, bool exact, LookupOrder order);

}  // namespace attnscope
