// Attention as lines between two columns of tokens, after BertViz's head view: queries on the left, keys on the right.
#pragma once

#include <imgui.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/skin.h"
#include "plain/matrix.h"

namespace attnscope {

enum class BipartiteSide { queries, keys };

struct BipartiteToken {
  BipartiteSide side = BipartiteSide::queries;
  int index = 0;
  bool operator==(const BipartiteToken&) const = default;
};

struct BipartiteData {
  std::span<const Matrix* const> heads;         // queries × keys; what a matrix lacks has no weight
  std::span<const std::string> row_labels;      // the queries; empty: numbers, as many as the largest matrix has rows
  std::span<const std::string> col_labels;      // the keys
  std::span<const Color32> colors;              // of the heads; those that have none take the theme's series in turn
  std::string_view row_axis;                    // over the left column: "query (written so far)"
  std::string_view col_axis;                    // over the right one
  float high = 1;                               // the weight that is drawn as a full line
  bool mask_upper = false;                      // keys after the query are hidden by the look-ahead mask (§3.2.3)
  std::optional<BipartiteToken> pointed;        // pointed at in another picture: as if it were here
  std::span<const BipartiteToken> marked;       // framed, besides the one pinned
  std::function<void(BipartiteToken)> tooltip;  // draws what the tooltip says; empty: the largest weights
};

// What it remembers from frame to frame.
struct BipartiteState {
  std::optional<BipartiteToken> pinned;  // its lines alone are shown while no other token is pointed at
};

struct BipartiteResult {
  std::optional<BipartiteToken> hovered;
  std::optional<BipartiteToken> clicked;  // it was pinned or, when it had been, let go
  float least_drawn = 0;                  // lines of smaller weights are left out
};

// Fills `size` (as room_for has it). Lines are as opaque and as thick as their weight. A token that is pointed at (or
// has the keyboard's focus, or is pinned) shows its own lines alone, and its weights as boxes behind the tokens of the
// other side, a stripe a head. Columns that do not fit scroll.
BipartiteResult draw_bipartite(const char* id, const BipartiteData& data, BipartiteState& state, ImVec2 size,
                               const Skin& skin);

}  // namespace attnscope
