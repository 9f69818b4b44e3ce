// Attribution for one generated token: its logit split over the parts of the decoder, its probability over the input
// tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution_methods.h"
#include "messages/attribution.h"
#include "widgets/heatmap_options.h"
#include "workspaces/workspace.h"

namespace attnscope {

struct AttributionView {
  std::optional<AttributionQuestion> asked;  // of that run
  std::uint64_t run = 0;
  std::int64_t step = 0;  // of the inspected weights
  std::optional<AttributionResult> inspection;
  std::size_t head = 0;  // index into AttributionResult::heads whose weights and norms are shown

  // ---- derived from the result and the head
  std::uint64_t version = 0;
  Matrix parts;                      // layers × heads of each attention, then the feed-forward network; logits
  std::vector<LogitPart> cells;      // the parts behind the cells of `parts`
  std::vector<TokenMethod> methods;  // in plain numbers
  Matrix tokens;                     // methods × tokens; each row relative to its largest
  Matrix agreement;                  // methods × methods
  HeatmapZoom parts_zoom, tokens_zoom, agreement_zoom;
};

void take_attribution(AttributionView& view, AttributionResult inspection, std::uint64_t run, std::int64_t step);

// `first`: the output position analyzed for a new sentence; see AttributionQuestion.
void draw_attribution(WorkspaceContext& context, AttributionView& view, int first);

// Methods × tokens, in their own units.
std::optional<WorkspaceNumbers> attribution_numbers(const AttributionView& view);

}  // namespace attnscope
