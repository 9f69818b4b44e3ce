// What is looked at of one written piece: its logit by parts of the decoder, its probability by the pieces read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plain/attribution.h"
#include "widgets/heatmap_options.h"
#include "workspaces/workspace.h"

namespace attnscope {

struct AttributionView {
  std::optional<AttributionQuestion> asked;  // of that run
  std::uint64_t run = 0;
  std::int64_t step = 0;  // of the weights that were looked at
  std::optional<AttributionResult> inspection;
  std::size_t head = 0;  // of AttributionResult::heads, whose weights and norms are shown

  // ---- made of the look and the head
  std::uint64_t version = 0;
  Matrix parts;                      // layers × heads of each attention, then the feed-forward network; logits
  std::vector<LogitPart> cells;      // of `parts`
  std::vector<TokenMethod> methods;  // in plain numbers
  Matrix tokens;                     // methods × pieces; each row as a share of its largest
  Matrix agreement;                  // methods × methods
  HeatmapZoom parts_zoom, tokens_zoom, agreement_zoom;
};

void take_attribution(AttributionView& view, AttributionResult inspection, std::uint64_t run, std::int64_t step);

// first: the output that a new sentence is asked about; see AttributionQuestion.
void draw_attribution(WorkspaceContext& context, AttributionView& view, int first);

// Methods × pieces, in their own units.
std::optional<WorkspaceNumbers> attribution_numbers(const AttributionView& view);

}  // namespace attnscope
