// What the interventions did: the output, the probability of the reference, the weight that moved most.
#pragma once

#include "base/skin.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// Some lines, as wide as what is left of the window.
void draw_effect(const ShownMaps& maps, AttentionView& view, const Skin& skin);

}  // namespace attnscope
