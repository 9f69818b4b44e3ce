// The units of one feed-forward sublayer: which are active for which piece (paper §3.3).
#pragma once

#include <vector>

#include "base/skin.h"
#include "base/textures.h"
#include "plain/flow.h"
#include "workspaces/attention/view.h"

namespace attnscope {

struct ActiveUnit {
  int unit = 0;
  float value = 0;
};

// One piece's units, the largest values first; only those above 0.
std::vector<ActiveUnit> most_active(const Matrix& active, int token, int count);

// The share of units above 0.
float active_share(const Matrix& active, int token);

// The selected layer's pieces × units, and the most active units of the selected piece. Advances the cursor.
void draw_units(const Shown& shown, AttentionView& view, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
