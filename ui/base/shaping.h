// Scripts whose letters change their form or place next to others (Devanagari, Thai): HarfBuzz chooses the glyphs,
// which are drawn as private-use characters of the atlas.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct hb_font_t;

namespace attnscope {

struct ScriptFont;

// Returns true if the text has letters of such a script: the Indic ones, Thai, Lao, Tibetan, Myanmar, Khmer.
bool needs_shaping(std::string_view text);

// A glyph of a font at its place in a text. Lengths are in the font's units.
struct ShapedGlyph {
  std::size_t font = 0;
  unsigned glyph = 0;
  int x = 0, y = 0, advance = 0;
  std::string text;  // what it stands for; empty: part of the glyph before it
  auto operator<=>(const ShapedGlyph&) const = default;
};

inline constexpr char32_t first_shaped = 0xE000, last_shaped = 0xF8FF;  // of the private-use area

// Used by the window's thread only, like Dear ImGui.
class Shaper {
 public:
  // The fonts of the next atlas, whose bytes must stay. Glyphs are kept unless a font was replaced.
  void use(const std::vector<ScriptFont>& fonts);

  // Replaces each run of these scripts by private-use characters, if a font has all of it and the atlas its glyphs.
  std::string shaped(std::string_view text);

  // By private-use character, from first_shaped.
  const std::vector<ShapedGlyph>& glyphs() const { return glyphs_; }

  // Glyphs were found that the atlas lacks.
  bool has_new() const { return num_loaded_ < glyphs_.size(); }
  void set_loaded() { num_loaded_ = glyphs_.size(); }

  // Null if the character is not of a shaped text.
  const ShapedGlyph* find(char32_t sign) const;

 private:
  std::vector<std::size_t> glyphs_of(const std::string& run);  // indices; empty: no font has all of the run
  std::size_t index_of(ShapedGlyph glyph);

  std::vector<std::string_view> bytes_;
  std::vector<std::shared_ptr<hb_font_t>> fonts_;
  std::vector<ShapedGlyph> glyphs_;
  std::map<ShapedGlyph, std::size_t> indices_;
  std::map<std::string, std::vector<std::size_t>> runs_;
  std::size_t num_loaded_ = 0;
};

Shaper& shaper();

}  // namespace attnscope
