// The softmax over the whole vocabulary in one picture: probability against rank.
#pragma once

#include <imgui.h>

#include <optional>
#include <vector>

#include "base/skin.h"
#include "plain/decodings.h"
#include "plain/snapshot.h"

namespace attnscope {

// A piece's place on the curve.
struct RankMark {
  int rank = 1;
  double probability = 0;
  bool exact = true;  // otherwise at least that rank: known only between two that are plotted
};

// The rank of what the step wrote. `decodings` as they belong to the snapshot.
RankMark rank_of_written(const Snapshot& snapshot, int step, const Decodings& decodings);

// Fills `size`. `decodings` is null while they are on their way.
void draw_ranks(const Snapshot& snapshot, int step, const Decodings* decodings, ImVec2 size, const Skin& skin);

}  // namespace attnscope
