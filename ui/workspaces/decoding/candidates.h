// What a step chose from: logit → temperature → probability → what top-k and top-p left.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

#include "base/skin.h"
#include "plain/decodings.h"
#include "plain/snapshot.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// Why a candidate cannot be drawn: "top-k", "top-p", or, where either may be why, "top-k or top-p". Empty: it can.
std::string cut_by(const DecodingStep& step, int candidate, const SamplingOptions& sampling);

// What the pieces that are not listed hold together, of each distribution: with the candidates' it makes 1.
struct RestOfVocabulary {
  double probability = 0;
  double tempered = 0;
  double kept = 0;
};
RestOfVocabulary rest_of(const DecodingStep& step);

// As much as draw_candidates can use.
float candidates_height(const Snapshot& snapshot, int step, const Skin& skin);

// Fills what is left of the window. `vocab_size`: where it is known already. A click on a candidate forces it.
void draw_candidates(const Snapshot& snapshot, DecodingView& view, std::optional<int> vocab_size, const Skin& skin);

// ---- the softmax over the whole vocabulary in one picture: probability against rank

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
