// Colors and sizes of the user interface.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "common/color_map.h"

namespace attnscope {

enum class ThemeName { dark, light };

struct Theme {
  ThemeName name = ThemeName::dark;
  Color32 background = 0;  // window background; also behind plots and maps
  Color32 panel = 0;       // columns, bars, popups
  Color32 raised = 0;      // buttons, fields, chips
  Color32 hovered = 0;     // a raised element under the mouse
  Color32 border = 0;
  Color32 grid = 0;  // grid lines of a plot, fainter than the border
  Color32 text = 0;
  Color32 text_dim = 0;  // units, captions, ids
  Color32 accent = 0;    // selection, focus, the active tab
  Color32 success = 0;
  Color32 warning = 0;
  Color32 error = 0;
  Color32 masked = 0;               // cells hidden by the look-ahead mask
  std::array<Color32, 7> series{};  // Okabe–Ito palette, safe for color blindness; in order of use
  ColorMap diverging = ColorMap::blue_orange;
};

const Theme& theme(ThemeName name);

// The color of line `i` (from 0) of a plot. After the palette come the same colors nearer to the text's, then it
// repeats.
Color32 series_color(const Theme& theme, std::size_t i);

// Of the tokens of a pair's second sentence.
inline Color32 second_sentence_color(const Theme& theme) {
  return theme.series[2];
}

// The same theme with more contrast: projectors wash out thin lines and grays.
Theme projected(const Theme& theme);

// Converts "dark" or "light" to a theme name, and back; any other text gives dark.
ThemeName theme_from(std::string_view text);
std::string_view theme_text(ThemeName name);

// Sets Dear ImGui's style. `scale`: the display's content scale times the user's zoom.
void apply_theme(const Theme& theme, float scale);

}  // namespace attnscope
