// The map drawn at the level "Head": of one head or combined from several, by tokens or by words. Recomputed only when
// its inputs change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attention_measures.h"
#include "base/shown.h"
#include "config/heads.h"
#include "messages/snapshot.h"

namespace attnscope {

// The selected head only, or a combination of several.
enum class HeadMix { one, together_mean, layer_mean, layer_max, part_mean, part_max, rollout, difference };

// Of a sentence pair: the sentences of queries and keys that are shown (as in BertViz).
enum class PairFilter { all, a_to_a, a_to_b, b_to_a, b_to_b };

struct HeadChoice {
  std::vector<HeadPlace> heads;  // of one part; the first is the selected head, the others are shown together with it
  HeadMix mix = HeadMix::one;
  bool words = false;  // tokens merged into words
  PairFilter pair = PairFilter::all;
  bool operator==(const HeadChoice&) const = default;
};

struct HeadMap {
  HeadChoice choice;
  std::uint64_t version = 0;  // version of the source snapshot
  std::uint64_t stamp = 0;    // changes whenever the map may have changed; versions the textures made from it

  Matrix map;
  Matrix before;               // for a difference: the unmodified model's head; otherwise empty
  std::vector<Matrix> lines;   // one map per color: the heads shown together; for a difference, its gains and losses
  std::vector<WordSpan> rows;  // the tokens of each row, and the row's label
  std::vector<WordSpan> cols;  // the same for columns
  std::vector<std::string> row_labels;
  std::vector<std::string> col_labels;
  std::vector<float> received;   // by each key, averaged over the queries that may attend to it; empty for a difference
  std::vector<float> entropies;  // per query; only if rows sum to 1
  int second_row = -1, second_col = -1;  // the first of sentence B; −1: there is none
  float largest = 0;                     // maximum absolute value
  bool captured_signs = false;           // of a capture whose values are not weights
  bool causal = false;                   // the look-ahead mask hides cells right of the diagonal
  bool pending = false;                  // a rollout through more layers is in progress; the last complete one is shown
  Matrix rolled;                         // partial result of that rollout, through this many layers
  int rolled_layers = 0;

  bool is_difference() const { return choice.mix == HeadMix::difference; }
  bool is_signed() const { return is_difference() || captured_signs; }
};

// The reason why the choice cannot be shown for that snapshot; null: it can.
const char* refusal(HeadMix mix, const HeadChoice& choice, const Snapshot& snapshot);

// Updates `made`. If the choice is not possible, shows only the selected head.
void update(HeadMap& made, HeadChoice choice, const Shown& shown);

// The row or column that contains the token; −1: none.
int place_of(int token, const std::vector<WordSpan>& spans);

}  // namespace attnscope
