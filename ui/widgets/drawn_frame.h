// A whole frame as shapes: what was painted (see painter.h), and what Dear ImGui drew by itself around it.
#pragma once

#include <imgui.h>

#include "base/skin.h"
#include "widgets/capture.h"

namespace attnscope {

// `painted` with the rest of the frame, in the order in which it was drawn: text is read back from its letters, the
// rest are polygons. The frame must have been drawn without anti-aliasing, whose fringes would be shapes of their own.
Capture with_all_drawn(const Capture& painted, const ImDrawData& data, const Skin& skin);

// Only what can be seen inside `area`, which it becomes a picture of.
Capture cropped(Capture capture, PictureArea area);

}  // namespace attnscope
