// The current appearance: passed to all drawing code, so that nothing needs a global.
#pragma once

#include "base/fonts.h"
#include "base/theme.h"

namespace attnscope {

class PictureRecorder;

struct Skin {
  Theme theme;
  Fonts fonts;
  float scale = 1;                      // content scale × zoom × presentation factor
  bool presentation = false;            // chrome hidden, thicker lines and larger type, readable from the last row
  PictureRecorder* recorder = nullptr;  // records draw calls while a picture is exported; null: not available

  // Converts a length at scale 1 to pixels.
  float px(float length) const { return length * scale; }

  // Line thickness in pixels.
  float stroke(float thickness) const { return presentation ? thickness * 1.5F : thickness; }
};

}  // namespace attnscope
