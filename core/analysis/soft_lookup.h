// Attention as a lookup in a soft database (§3.2): one query against all keys, and the values mixed by how well they
// match, one after the other.
#pragma once

#include <vector>

#include "analysis/head_stages.h"
#include "plain/head_inside.h"
#include "plain/matrix.h"

namespace attnscope {

enum class LookupOrder { as_written, by_weight };

struct SoftLookup {
  std::vector<int> keys;       // in the order in which the rows stand
  std::vector<float> match;    // q·k as the softmax gets it, by row; −∞: hidden
  std::vector<float> weights;  // by row; of an exact lookup 1 at the best match and 0 elsewhere
  Matrix values;               // by row: K×d, what the weights mix
  Matrix sums;                 // by row: K×d, Σ of this row's and those above it, weight · value
  std::vector<float> output;   // d: the last row of the sums

  // Of the best match; −1 where every key is hidden.
  int best = -1;
};

// `stages` are the head's with the mask it has. `exact`: a hard maximum instead of the softmax.
SoftLookup soft_lookup(const HeadInside& head, const HeadStages& stages, int query, bool exact, LookupOrder order);

}  // namespace attnscope
