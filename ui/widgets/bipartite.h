// Attention drawn as lines between two columns of tokens, as in BertViz's head view: queries on the left, keys on the
// right.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/skin.h"
#include "common/matrix.h"

namespace attnscope {

enum class BipartiteSide { queries, keys };

struct BipartiteToken {
  BipartiteSide side = BipartiteSide::queries;
  int index = 0;
  bool operator==(const BipartiteToken&) const = default;
};

struct BipartiteData {
  std::span<const Matrix* const> heads;     // queries × keys each; entries outside a matrix have weight 0
  std::span<const std::string> row_labels;  // the queries; empty: numbers, one per row of the largest matrix
  std::span<const std::string> col_labels;  // the keys
  int second_row = -1;                      // labels from here on have another color; −1: none
  int second_col = -1;
  std::span<const Color32> colors;              // one per head; missing ones come from the theme's series, in order
  std::size_t first_dashed = SIZE_MAX;          // the lines of heads from here on are dashed: what is negative
  std::string_view row_axis;                    // heading of the left column: "query (input)"
  std::string_view col_axis;                    // heading of the right column
  float high = 1;                               // the weight drawn at full opacity and thickness
  bool mask_upper = false;                      // keys after the query are hidden by the look-ahead mask (§3.2.3)
  std::optional<BipartiteToken> pointed;        // hover target in another picture, shown as if it were hovered here
  std::span<const BipartiteToken> marked;       // outlined, in addition to the pinned one
  std::function<void(BipartiteToken)> tooltip;  // draws the tooltip's contents; empty: the largest weights
};

// State that persists between frames.
struct BipartiteState {
  std::optional<BipartiteToken> pinned;  // only its lines are shown unless another token is hovered
};

struct BipartiteResult {
  std::optional<BipartiteToken> hovered;
  std::optional<BipartiteToken> clicked;  // the token that was pinned or unpinned in this frame
  float least_drawn = 0;                  // weights below this are not drawn
};

// Draws the view into `size` (see room_for). Line opacity and thickness are proportional to the weight. A token that is
// hovered, focused or pinned shows only its own lines; its weights are boxes behind the tokens of the other column, one
// stripe per head. Columns that do not fit scroll.
BipartiteResult draw_bipartite(const char* id, const BipartiteData& data, BipartiteState& state, ImVec2 size,
                               const Skin& skin);

}  // namespace attnscope
