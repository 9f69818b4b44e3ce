// Export of a captured picture as a vector file.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "base/skin.h"
#include "widgets/capture.h"

namespace attnscope {

// Returns a standalone SVG 1.1 file of the captured area on that background, in screen pixels. Text stays text, in the
// window's fonts if they are installed and always as wide as on the screen. Cells become rectangles, with neighbors of
// equal color merged; more than 128 × 128 cells become an embedded PNG. Deterministic: the same capture gives the same
// bytes.
std::string to_svg(const Capture& capture, Color32 background);

// Escapes text for XML content. Characters that XML does not allow (control characters, invalid UTF-8) become U+FFFD.
std::string escaped_xml(std::string_view text);

// ---- whole frames as shapes

// Returns `painted` together with the rest of the frame, in drawing order: text is recovered from its glyphs,
// everything else becomes polygons. The frame must be drawn without anti-aliasing, whose fringes would become separate
// shapes.
Capture with_all_drawn(const Capture& painted, const ImDrawData& data, const Skin& skin);

// Crops a capture to what is visible inside `area`.
Capture cropped(Capture capture, PictureArea area);

}  // namespace attnscope
