// Induction heads (Elhage et al. 2021; Olsson et al. 2022, arXiv 2209.11895): the attention of every head of a
// decoder-only model on random tokens that repeat, and what its weights do to tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/matrix.h"
#include "config/heads.h"

namespace attnscope {

struct InductionQuestion {
  bool over_training = false;                  // also at every step with recorded weights
  std::optional<HeadPlace> circuits_of = {};  // also this head's QK and OV circuits
  bool operator==(const InductionQuestion&) const = default;
};

struct HeadInduction {
  HeadPlace place;
  double previous = 0;   // mean weight on the token before the query
  double induction = 0;  // mean weight of a repeated token on those after its earlier occurrences
  double first = 0;      // mean weight on the first token: an attention sink (arXiv 2309.17453)
  double copying = 0;    // Σ Re λ / Σ |λ| of the OV circuit's eigenvalues: 1 if it raises the attended token's logit
};

struct InductionPoint {
  std::int64_t step = 0;
  std::vector<HeadInduction> heads = {};  // by layer, head
  double accuracy = 0;                    // share of the repeated tokens that are predicted
  double nll = 0;                         // of the repeated tokens, nats
  double in_context = 0;                  // mean loss over the last quarter of the context − over the first, nats
};

// The repeated tokens with some heads ablated, or with the first token masked.
struct InductionTrial {
  std::vector<HeadPlace> heads_off = {};
  double accuracy = 0, nll = 0;  // as in InductionPoint
};

// How much of a later head's input comes from an earlier head (Elhage et al. 2021): ‖product‖ / (‖one‖ ‖other‖), by
// Frobenius norms. Rows: the later heads, columns: the earlier ones; 0 if the column's layer is not earlier.
struct Composition {
  Matrix q, k, v;
};

// A head's circuits from token to token, through embedding and output matrix. Exact without norms and feed-forward.
struct TokenCircuits {
  HeadPlace place;
  std::vector<std::string> tokens;
  Matrix qk;  // score of a query token (row) with a key token
  Matrix ov;  // change of an output token's logit (column) if the row's token is attended to
  double positive = 0;  // share of the OV circuit's eigenvalues with a positive real part
};

struct InductionResult {
  std::string problem = {};  // why there is none, in one sentence
  InductionQuestion question = {};
  int sequences = 0, length = 0;             // of random repeated tokens
  std::vector<InductionPoint> points = {};  // ascending; the last with the present weights
  // Of the present weights: without the induction heads, and without as many others, drawn with a fixed seed (Olsson et
  // al. 2022, argument 2); no heads if there are none. Without attention to the first token, except by itself (arXiv
  // 2309.17453, table 1).
  InductionTrial without_induction = {}, without_others = {}, first_masked = {};
  Composition composition = {};             // of the present weights; empty for more than 256 heads
  std::optional<TokenCircuits> circuits = {};
};

}  // namespace attnscope
