// A picture that was taken, as a vector file.
#pragma once

#include <string>

#include "widgets/capture.h"

namespace attnscope {

// A standalone SVG 1.1 file of the captured area on that background, in pixels of the screen. Text stays text, in the
// window's fonts where they are installed and always as wide as it was on the screen; cells are rectangles, those of
// equal colour beside one another as one, and an embedded PNG where there are more than 128 × 128. The same capture
// gives the same bytes.
std::string to_svg(const Capture& capture, Color32 background);

}  // namespace attnscope
