// The candidates of a step: logit → temperature → probability → after top-k and top-p.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

#include "base/skin.h"
#include "messages/decodings.h"
#include "messages/snapshot.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// The reason why a candidate cannot be sampled: "top-k", "top-p", or "top-k or top-p" if either may apply. Empty: it
// can.
std::string cut_by(const DecodingStep& step, int candidate, const SamplingOptions& sampling);

// The total probability of the tokens that are not listed, for each distribution; adds up to 1 with the candidates.
struct RestOfVocabulary {
  double probability = 0;
  double tempered = 0;
  double kept = 0;
};
RestOfVocabulary rest_of(const DecodingStep& step);

// The height that draw_candidates can use.
float candidates_height(const Snapshot& snapshot, int step, const Skin& skin);

// Fills the rest of the window. `vocab_size`: set if already known. A click on a candidate forces it.
void draw_candidates(const Snapshot& snapshot, DecodingView& view, std::optional<int> vocab_size, const Skin& skin);

// ---- the softmax over the whole vocabulary in one plot: probability against rank

// A token's position on the curve.
struct RankMark {
  int rank = 1;
  double probability = 0;
  bool exact = true;  // false: a lower bound on the rank, which lies between two plotted points
};

// The rank of the token chosen at the step. `decodings` must belong to the snapshot.
RankMark rank_of_written(const Snapshot& snapshot, int step, const Decodings& decodings);

// Fills `size`. `decodings` is null until available.
void draw_ranks(const Snapshot& snapshot, int step, const Decodings* decodings, ImVec2 size, const Skin& skin);

}  // namespace attnscope
