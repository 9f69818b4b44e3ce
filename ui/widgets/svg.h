// A picture that was taken, as a vector file.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "base/skin.h"
#include "widgets/capture.h"

namespace attnscope {

// A standalone SVG 1.1 file of the captured area on that background, in pixels of the screen. Text stays text, in the
// window's fonts where they are installed and always as wide as it was on the screen; cells are rectangles, those of
// equal colour beside one another as one, and an embedded PNG where there are more than 128 × 128. The same capture
// gives the same bytes.
std::string to_svg(const Capture& capture, Color32 background);

// Text between two tags. What XML cannot hold (control characters, bytes that are no UTF-8) becomes U+FFFD.
std::string escaped_xml(std::string_view text);

// ---- what to draw: a whole frame as shapes

// `painted` with the rest of the frame, in the order in which it was drawn: text is read back from its letters, the
// rest are polygons. The frame must have been drawn without anti-aliasing, whose fringes would be shapes of their own.
Capture with_all_drawn(const Capture& painted, const ImDrawData& data, const Skin& skin);

// Only what can be seen inside `area`, which it becomes a picture of.
Capture cropped(Capture capture, PictureArea area);

}  // namespace attnscope
