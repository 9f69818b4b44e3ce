// System fonts, found with fontconfig.
#pragma once

#include <set>
#include <vector>

#include "base/fonts.h"

namespace attnscope {

// Inter for text and JetBrains Mono for tokens and numbers, or DejaVu if they are missing. Fonts that cannot be found
// are left empty, and Dear ImGui's own font is used.
FontFiles find_fonts();

// The fewest fonts that cover these glyphs; glyphs that no font has are omitted.
std::vector<ScriptFont> find_script_fonts(std::set<char32_t> signs, std::set<char32_t>* missing = nullptr);

// The Debian package with a font that has this character.
const char* font_package(char32_t sign);

// Only DejaVu: pictures must not depend on other installed fonts.
FontFiles find_pinned_fonts();

}  // namespace attnscope
