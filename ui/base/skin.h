// How things look now: passed to everything that draws, so that nothing needs a global.
#pragma once

#include "base/fonts.h"
#include "base/theme.h"

namespace attnscope {

class PictureRecorder;

struct Skin {
  Theme theme;
  Fonts fonts;
  float scale = 1;                      // content scale × zoom; what presentation mode wants instead
  bool presentation = false;            // chrome hidden, lines thicker, type larger: to be read from the last row
  PictureRecorder* recorder = nullptr;  // of what is painted, while a picture is taken; none: nothing can be taken

  // A length given for scale 1, in pixels.
  float px(float length) const { return length * scale; }

  // The thickness of a line.
  float stroke(float thickness) const { return presentation ? thickness * 1.5F : thickness; }
};

}  // namespace attnscope
