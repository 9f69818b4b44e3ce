// The desktop's preference for light or dark.
#pragma once

#include <optional>

#include "base/theme.h"

namespace attnscope {

// Asks the desktop portal (org.freedesktop.appearance color-scheme); empty: no preference, or no portal on the session
// bus. Blocks for a fraction of a second at most, so it must not run on the window's thread.
std::optional<ThemeName> system_theme();

}  // namespace attnscope
