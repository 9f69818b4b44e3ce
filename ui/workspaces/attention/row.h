// One row of an attention map: a query and its weights.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/skin.h"
#include "common/matrix.h"
#include "config/heads.h"
#include "messages/snapshot.h"

namespace attnscope {

// The initial row: the last pronoun with an antecedent to be found (it, il, elle and their plurals), else the last
// word; −1: no word.
int telling_row(std::span<const Token> tokens);

// The initial head: in the last encoder layer, the one where the last pronoun gives an earlier word the most weight;
// trained models resolve the antecedent there. nullopt: no pronoun.
std::optional<HeadPlace> telling_head(const Snapshot& snapshot);

struct RowListResult {
  int hovered = -1;  // the key under the mouse
  int clicked = -1;
};

struct RowBars {
  float high;                 // the value of a full bar
  Color32 positive, negative;
};

// Draws the row's values on the first `visible` keys as bars, in descending order of absolute value; −∞ comes last.
// Fills the rest of the window and scrolls. `selected`: the key to outline, or −1.
RowListResult draw_row_list(const Matrix& map, int row, int visible, const std::vector<std::string>& keys, int selected,
                            const RowBars& bars, const Skin& skin);

}  // namespace attnscope
