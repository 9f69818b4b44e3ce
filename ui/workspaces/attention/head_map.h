// The map that the level "Head" draws: of one head or of several made into one, in pieces or in words. It is made anew
// only when something about it changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attention_measures.h"
#include "base/shown.h"
#include "plain/heads.h"
#include "plain/snapshot.h"

namespace attnscope {

// What is drawn: the selected head, or what is made of several.
enum class HeadMix { one, together_mean, layer_mean, layer_max, part_mean, part_max, rollout, difference };

struct HeadChoice {
  std::vector<HeadPlace> heads;  // of one part; the first is the selected one, the others are shown together with it
  HeadMix mix = HeadMix::one;
  bool words = false;  // pieces merged into words
  bool operator==(const HeadChoice&) const = default;
};

struct HeadMap {
  HeadChoice choice;
  std::uint64_t version = 0;  // of the snapshot it was made from
  std::uint64_t stamp = 0;    // changes whenever the map may have: the version of textures made from it

  Matrix map;
  Matrix before;               // difference: the untouched head's; else empty
  std::vector<Matrix> lines;   // a colour each: the heads shown together; of a difference its gains and losses
  std::vector<WordSpan> rows;  // which pieces a row stands for, and its label
  std::vector<WordSpan> cols;  // and a column
  std::vector<std::string> row_labels;
  std::vector<std::string> col_labels;
  std::vector<float> received;   // by each key, on average over the queries that see it; none of a difference
  std::vector<float> entropies;  // of each query; only where rows sum to 1
  float largest = 0;             // of the values, without sign
  bool causal = false;           // the look-ahead mask hides what is right of the diagonal
  bool pending = false;          // a rollout through more layers is under way; the last one whole is shown
  Matrix rolled;                 // of the rollout under way, through so many layers
  int rolled_layers = 0;

  bool is_signed() const { return choice.mix == HeadMix::difference; }
};

// Why the choice cannot be shown of that snapshot; null: it can.
const char* refusal(HeadMix mix, const HeadChoice& choice, const Snapshot& snapshot);

// Brings `made` up to date. A choice that is refused shows the selected head alone.
void update(HeadMap& made, HeadChoice choice, const Shown& shown);

// The row or column that has this piece; −1 for none.
int place_of(int token, const std::vector<WordSpan>& spans);

}  // namespace attnscope
