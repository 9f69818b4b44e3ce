// Shapes that go with the colors of a series, so that lines and points can be told apart without color.
#pragma once

#include "widgets/painter.h"

namespace attnscope {

// The shape of the series' color, whatever its opacity; of any other color: a dot.
void draw_mark(Painter& paint, ImVec2 at, float radius, Color32 color, const Skin& skin);

}  // namespace attnscope
