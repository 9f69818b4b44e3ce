// Interventions in the model while it is looked at: heads and layers switched off, attention forced, tokens replaced.
#pragma once

#include "base/skin.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// The button whose popup makes them. What was made is listed, and taken back, in the bar of departures.
void draw_interventions(const ShownMaps& maps, AttentionView& view, const Skin& skin);

// What the interventions did: the output, the probability of the reference, the weight that moved most. Some lines, as
// wide as what is left of the window.
void draw_effect(const ShownMaps& maps, AttentionView& view, const Skin& skin);

// ---- one at a time; what contradicts it is taken back

void toggle_head(Interventions& interventions, const HeadPlace& place);
void toggle_layer(Interventions& interventions, const LayerPlace& place);
void force(Interventions& interventions, const ForcedAttention& forced);
void replace(Interventions& interventions, ReplacedToken replaced);

}  // namespace attnscope
