// The colours and the sizes of everything on the screen.
#pragma once

#include <array>
#include <string_view>

#include "base/color_map.h"

namespace attnscope {

enum class ThemeName { dark, light };

struct Theme {
  ThemeName name = ThemeName::dark;
  Color32 background = 0;  // behind everything, and behind plots and maps
  Color32 panel = 0;       // columns, bars, popups
  Color32 raised = 0;      // buttons, fields, chips
  Color32 hovered = 0;     // a raised thing under the mouse
  Color32 border = 0;
  Color32 grid = 0;  // lines of a plot, fainter than the border
  Color32 text = 0;
  Color32 text_dim = 0;  // units, captions, ids
  Color32 accent = 0;    // selection, focus, the active tab
  Color32 success = 0;
  Color32 warning = 0;
  Color32 error = 0;
  Color32 masked = 0;               // cells the look-ahead mask hides
  std::array<Color32, 7> series{};  // Okabe–Ito, told apart by everybody; the order is the order of use
  ColorMap diverging = ColorMap::blue_orange;
};

const Theme& theme(ThemeName name);

// The same for a projector, which swallows what is thin or grey: more contrast.
Theme projected(const Theme& theme);

// "dark" or "light", and back; anything else is dark.
ThemeName theme_from(std::string_view text);
std::string_view theme_text(ThemeName name);

// Sets Dear ImGui's style: `scale` is the display's content scale times the user's zoom.
void apply_theme(const Theme& theme, float scale);

}  // namespace attnscope
