// Fonts. All code that depends on the Dear ImGui release's font API is here.
#pragma once

#include <imgui.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// A font for the glyphs of one more script.
struct ScriptFont {
  std::string bytes;
  std::vector<ImWchar> ranges;  // first and last code point of each range, ended by 0
};

// The bytes of the font files, which the application finds and reads. Empty: Dear ImGui's built-in font.
struct FontFiles {
  std::string ui;       // proportional; the default font
  std::string ui_bold;  // headings; empty: same as ui
  std::string mono;     // tokens and numbers
  // Glyphs that the other fonts lack, such as ⏎ and ▁; empty: those are drawn as "�".
  std::string ui_fallback;
  std::string mono_fallback;
  std::vector<ScriptFont> scripts;  // added on demand; must outlive every atlas built from them
};

struct Fonts {
  ImFont* ui = nullptr;
  ImFont* bold = nullptr;
  ImFont* large = nullptr;  // the words of a sentence; readable from the last row of a room
  ImFont* small = nullptr;  // captions, axes, ids
  ImFont* mono = nullptr;
  ImFont* mono_small = nullptr;
  // The em size (the unit of typography) as a fraction of the font height (Dear ImGui's unit).
  float ui_em = 1;
  float bold_em = 1;
  float mono_em = 1;
  // Family name from the font file; empty for Dear ImGui's built-in font.
  std::string ui_family;
  std::string mono_family;
  std::vector<std::vector<ImWchar>> script_ranges;  // of FontFiles::scripts, what the atlas holds; it reads them later
};

// Clears and fills the atlas: rasterizes with FreeType at `scale`, with Latin, Latin Extended, Greek, Cyrillic,
// typographic punctuation, arrows, mathematical operators, the word mark "▁" and the ranges of `scripts`. The caller
// must rebuild the atlas texture afterwards. `projected`: for a projector, the small fonts are nearly as large as the
// others. Throws std::runtime_error if a file is not a font.
Fonts add_fonts(ImFontAtlas& atlas, const FontFiles& files, float scale, bool projected = false);

inline constexpr float least_projected_type = 14;  // smallest font height when projected, in pixels at scale 1

// Returns true if add_fonts loads the character from the window's own fonts, if they have it.
bool is_in_own_fonts(char32_t sign);

// The fonts' height in pixels.
float font_size(const ImFont* font);

// Distance from the top of a line to its baseline, in pixels.
float font_ascent(const ImFont* font);

// The font's glyphs as placed in the atlas; maps drawn quads back to characters.
std::span<const ImFontGlyph> glyphs_of(const ImFont* font);

// Returns whether the font or its fallback has the glyph.
bool has_glyph(const ImFont* font, ImWchar sign);

void push_font(ImFont* font);
void pop_font();

// Pushes a font for the lifetime of the object.
class WithFont {
 public:
  explicit WithFont(ImFont* font) { push_font(font); }
  ~WithFont() { pop_font(); }
  WithFont(const WithFont&) = delete;
  WithFont& operator=(const WithFont&) = delete;
};

// Breaks text into lines no wider than `width`. A word that is too long is split; a number is not.
std::vector<std::string_view> wrapped_lines(const ImFont* font, std::string_view text, float width);

// Measures text in that font; draws text with its top left corner at `position`.
ImVec2 text_size(const ImFont* font, std::string_view text);
void draw_text(ImDrawList& list, ImFont* font, ImVec2 position, ImU32 color, const char* begin,
               const char* end = nullptr);

}  // namespace attnscope
