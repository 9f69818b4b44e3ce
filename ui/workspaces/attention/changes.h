// What is changed in the model while it is looked at: heads and layers switched off, attention forced, tokens replaced.
#pragma once

#include <string>

#include "base/look.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// One line when nothing is changed; else what is changed, each to be taken back, and what came of it.
void draw_changes(const ShownMaps& maps, AttentionView& view, const Look& look);

// ---- one at a time; what contradicts it is taken back

void toggle_head(Interventions& changes, const HeadPlace& place);
void toggle_layer(Interventions& changes, const LayerPlace& place);
void force(Interventions& changes, const ForcedAttention& forced);
void replace(Interventions& changes, ReplacedToken replaced);

}  // namespace attnscope
