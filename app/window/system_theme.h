// Whether the desktop is set to light or to dark.
#pragma once

#include <optional>

#include "base/theme.h"

namespace attnscope {

// What the desktop's portal says (org.freedesktop.appearance color-scheme); none: it prefers neither, or there is no
// portal on the session's bus. Waits for its answer for a fraction of a second at most: not for the window's thread.
std::optional<ThemeName> system_theme();

}  // namespace attnscope
