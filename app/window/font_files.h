// The fonts of the system, found with fontconfig.
#pragma once

#include <set>
#include <vector>

#include "base/fonts.h"

namespace attnscope {

// Inter for text and JetBrains Mono for tokens and numbers, or DejaVu where they are missing. What cannot be found is
// left empty, and Dear ImGui's own font takes its place.
FontFiles find_fonts();

// Fonts that have those signs, as few as do; signs that no font has are in none of them.
std::vector<ScriptFont> find_script_fonts(std::set<char32_t> signs);

// DejaVu alone: pictures must not change with what else is installed.
FontFiles find_pinned_fonts();

}  // namespace attnscope
