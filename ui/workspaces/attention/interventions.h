// Interventions in the forward pass: ablated heads and layers, forced attention, replaced tokens.
#pragma once

#include "base/skin.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// Draws the button whose popup creates interventions. They are listed and cleared in the bar of overrides.
void draw_interventions(const ShownMaps& maps, AttentionView& view, const Skin& skin);

// Draws the effect of the interventions: the output, the probability of the reference, the weight that changed most. A
// few lines, as wide as the rest of the window.
void draw_effect(const ShownMaps& maps, AttentionView& view, const Skin& skin);

// ---- toggle one intervention; conflicting ones are cleared

void toggle_head(Interventions& interventions, const HeadPlace& place);
void toggle_layer(Interventions& interventions, const LayerPlace& place);
void force(Interventions& interventions, const ForcedAttention& forced);
void replace(Interventions& interventions, ReplacedToken replaced);

}  // namespace attnscope
