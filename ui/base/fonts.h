// The one place that knows how Dear ImGui's fonts changed from release to release.
#pragma once

#include <imgui.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// A font for signs that the others lack: of another script.
struct ScriptFont {
  std::string bytes;
  std::vector<ImWchar> ranges;  // first and last sign of each, ended by 0
};

// The fonts' files, as bytes (the application finds and reads them). Empty: Dear ImGui's built-in font.
struct FontFiles {
  std::string ui;       // proportional, for everything
  std::string ui_bold;  // headings; empty: as ui
  std::string mono;     // tokens and numbers
  // For the signs that the others lack, such as ⏎ and ▁; empty: those signs are drawn as "�".
  std::string ui_fallback;
  std::string mono_fallback;
  std::vector<ScriptFont> scripts;  // as they are needed; they stay in place for as long as an atlas is made of them
};

struct Fonts {
  ImFont* ui = nullptr;
  ImFont* bold = nullptr;
  ImFont* large = nullptr;  // the words of a sentence, to be read from the last row
  ImFont* small = nullptr;  // captions, axes, ids
  ImFont* mono = nullptr;
  ImFont* mono_small = nullptr;
  // The em, by which typography counts sizes, as a share of the font's height, by which Dear ImGui does.
  float ui_em = 1;
  float bold_em = 1;
  float mono_em = 1;
  // What the fonts call themselves; empty for Dear ImGui's own.
  std::string ui_family;
  std::string mono_family;
};

// Empties the atlas and fills it: drawn with FreeType at `scale`, with Latin, Latin Extended, Greek, Cyrillic,
// typographic punctuation, arrows, mathematical operators, the word mark "▁", and what `scripts` are for. The caller
// builds the atlas's texture anew afterwards. Throws std::runtime_error if a file is not a font.
// `projected`: the small fonts are hardly smaller than the others.
Fonts add_fonts(ImFontAtlas& atlas, const FontFiles& files, float scale, bool projected = false);

inline constexpr float least_projected_type = 14;  // the smallest font's height then, in pixels at scale 1

// The fonts' height in pixels.
float font_size(const ImFont* font);

// From the top of a line to its baseline.
float font_ascent(const ImFont* font);

// The font's letters as they lie in the atlas: to tell from what was drawn which they are.
std::span<const ImFontGlyph> glyphs_of(const ImFont* font);

// Whether the font or its fallback has that sign.
bool has_glyph(const ImFont* font, ImWchar sign);

void push_font(ImFont* font);
void pop_font();

// For one scope.
class WithFont {
 public:
  explicit WithFont(ImFont* font) { push_font(font); }
  ~WithFont() { pop_font(); }
  WithFont(const WithFont&) = delete;
  WithFont& operator=(const WithFont&) = delete;
};

// The lines into which text is broken to be no wider than `width` (a longer word is cut, a number is not).
std::vector<std::string_view> wrapped_lines(const ImFont* font, std::string_view text, float width);

// Size of the text in that font, and the text drawn with its top left corner at `position`.
ImVec2 text_size(const ImFont* font, std::string_view text);
void draw_text(ImDrawList& list, ImFont* font, ImVec2 position, ImU32 color, const char* begin,
               const char* end = nullptr);

}  // namespace attnscope
