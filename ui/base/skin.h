// How things look now: passed to everything that draws, so that nothing needs a global.
#pragma once

#include "base/fonts.h"
#include "base/theme.h"

namespace attnscope {

class PictureRecorder;

struct Skin {
  Theme theme;
  Fonts fonts;
  float scale = 1;                      // content scale × zoom × (1.5 in presentation mode)
  bool presentation = false;            // chrome hidden
  PictureRecorder* recorder = nullptr;  // of what is painted, while a picture is taken; none: nothing can be taken

  // A length given for scale 1, in pixels.
  float px(float length) const { return length * scale; }
};

}  // namespace attnscope
