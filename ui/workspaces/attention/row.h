// One row of an attention map: the piece that looks, and where it looks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/skin.h"
#include "plain/heads.h"
#include "plain/matrix.h"
#include "plain/snapshot.h"

namespace attnscope {

// The row to see first: the last pronoun whose antecedent must be found (it, il, elle and their plurals), else the last
// word; -1 where there is no word.
int telling_row(std::span<const Token> tokens);

// The head to see first: of the last encoder layer, the one in which the last pronoun weighs an earlier word most:
// there a trained model keeps the antecedent. None without a pronoun.
std::optional<HeadPlace> telling_head(const Snapshot& snapshot);

struct RowListResult {
  int hovered = -1;  // the key under the mouse
  int clicked = -1;
};

// The row's values on the first `visible` keys as bars, the largest first (without their sign). Fills what is left of
// the window and scrolls. `selected`: the key to be framed, or −1.
RowListResult draw_row_list(const Matrix& map, int row, int visible, const std::vector<std::string>& keys, int selected,
                            const Skin& skin);

}  // namespace attnscope
