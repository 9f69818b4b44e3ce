// The atlas of glyphs, in sizes and with scripts that Dear ImGui's builder has no room for.
#include <gtest/gtest.h>
#include <imgui.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "base/fonts.h"
#include "base/shaping.h"
#include "window/font_files.h"

namespace attnscope {
namespace {

constexpr int largest_texture = 16384;  // of common drivers

ImVec2 texture_size(const ImFontAtlas& atlas) {
#if IMGUI_VERSION_NUM >= 19200
  return {static_cast<float>(atlas.TexData->Width), static_cast<float>(atlas.TexData->Height)};
#else
  return {static_cast<float>(atlas.TexWidth), static_cast<float>(atlas.TexHeight)};
#endif
}

class FontAtlas : public testing::Test {
 protected:
  void SetUp() override {
    files = find_pinned_fonts();
    if (files.ui.empty()) GTEST_SKIP() << "DejaVu is not installed";
    // All that the font has beyond the window's own glyphs, several times over, as a large vocabulary would need it.
    for (int copy = 0; copy < 4; ++copy) files.scripts.push_back({files.ui, {0x0530, 0x1DFF, 0x2600, 0xFFFC, 0}});
  }

  FontFiles files;
  ImFontAtlas atlas;
};

TEST_F(FontAtlas, StaysWithinTheBuildersLimitsAtAnyScale) {
  for (const float scale : {0.5F, 1.0F, 1.7F, 2.0F, 3.4F, 4.0F, 8.0F, 20.0F})
    for (const bool projected : {false, true}) {
      const Fonts fonts = add_fonts(atlas, files, scale, projected);
      EXPECT_LE(texture_size(atlas).x, largest_texture) << scale;
      EXPECT_LE(texture_size(atlas).y, largest_texture) << scale;
      for (const ImFont* font : {fonts.ui, fonts.bold, fonts.large, fonts.small, fonts.mono, fonts.mono_small}) {
        EXPECT_TRUE(has_glyph(font, 'M') && has_glyph(font, 0x2581)) << scale;
        for (const ImFontGlyph& glyph : glyphs_of(font))
          EXPECT_LE((glyph.X1 - glyph.X0) * (glyph.Y1 - glyph.Y0), 65536) << scale;
      }
    }
}

TEST_F(FontAtlas, TextGrowsWithTheScaleUpToFour) {
  const auto size_at = [&](float scale) { return font_size(add_fonts(atlas, files, scale).ui); };
  const float size = size_at(1);
  EXPECT_NEAR(size_at(2), 2 * size, 1);
  EXPECT_NEAR(size_at(0.5F), size / 2, 1);
  EXPECT_NEAR(size_at(9), 4 * size, 1);
}

TEST_F(FontAtlas, GlyphsOfOtherScriptsArePresentInOrdinarySizes) {
  const Fonts fonts = add_fonts(atlas, files, 1);
  for (const ImWchar sign : std::initializer_list<ImWchar>{0x05D0, 0x0627, 0x10D0})
    EXPECT_TRUE(has_glyph(fonts.ui, sign)) << sign;
}

// U+FDFD, a whole sentence in one glyph, is wider than any slot once the text is large.
TEST_F(FontAtlas, AGlyphThatIsTooLargeIsLeftOut) {
  files.scripts = {{files.ui, {0x0627, 0x0627, 0xFDFA, 0xFDFD, 0}}};
  const Fonts fonts = add_fonts(atlas, files, 4);
  EXPECT_TRUE(has_glyph(fonts.large, 0x0627));
  for (const std::vector<ImWchar>& ranges : fonts.script_ranges) EXPECT_EQ(ranges.size() % 2, 1U);
}

// ---- shaping

#if IMGUI_VERSION_NUM < 19200  // later versions load glyphs by themselves, by code point only
class ShapedText : public testing::Test {
 protected:
  void SetUp() override {
    files = find_pinned_fonts();
    add_fonts(atlas, files, 1);  // no glyphs of an earlier test
    files.scripts = find_script_fonts({U'क', U'ष', U'ि', U'्'});
    if (files.ui.empty() || files.scripts.empty()) GTEST_SKIP() << "DejaVu or a Devanagari font is not installed";
    add_fonts(atlas, files, 1);
    for (const char* text : {"कि", "क्ष", "हिन्दी"}) EXPECT_EQ(shaper().shaped(text), text) << "no glyphs yet";
    EXPECT_TRUE(shaper().has_new());
    fonts = add_fonts(atlas, files, 1);
    EXPECT_FALSE(shaper().has_new());
  }

  // As the glyphs stand from left to right: what each stands for.
  static std::vector<std::string> glyphs(const char* text) {
    std::vector<std::string> found;
    const std::string shaped = shaper().shaped(text);
    for (std::size_t at = 0; at < shaped.size(); at += 3) {
      const ShapedGlyph* glyph = shaper().find(private_use(shaped.substr(at, 3)));
      found.push_back(glyph ? glyph->text : "none");
    }
    return found;
  }

  static char32_t private_use(const std::string& sign) {
    return static_cast<char32_t>((sign[0] & 0x0F) << 12 | (sign[1] & 0x3F) << 6 | (sign[2] & 0x3F));
  }

  float width(const char* text) const { return text_size(fonts.large, text).x; }

  FontFiles files;
  ImFontAtlas atlas;
  Fonts fonts;
};

// The vowel is written before its consonant; a conjunct is one glyph.
TEST_F(ShapedText, OfDevanagariHasItsVowelsAndConjunctsInPlace) {
  EXPECT_EQ(glyphs("कि"), (std::vector<std::string>{"कि", ""}));
  // ि, which reaches over what follows, then क
  ASSERT_GE(shaper().glyphs().size(), 2U);
  EXPECT_LT(shaper().glyphs()[0].advance, shaper().glyphs()[1].advance);
  EXPECT_EQ(glyphs("क्ष"), std::vector<std::string>{"क्ष"});
  EXPECT_EQ(shaper().shaped("a क्ष b").size(), 2U + 3U + 2U) << "other letters stay";
  EXPECT_LT(width("क्ष"), width("क") + width("ष"));
}

TEST_F(ShapedText, IsDrawnIntoTheAtlas) {
  unsigned char* pixels = nullptr;
  int columns = 0, rows = 0;
  atlas.GetTexDataAsAlpha8(&pixels, &columns, &rows);
  for (const ImFont* font : {fonts.ui, fonts.large, fonts.mono_small}) {
    const ImFontGlyph* glyph = font->FindGlyphNoFallback(first_shaped);
    ASSERT_TRUE(glyph);
    const auto at = [](float share, int size) { return static_cast<int>(share * static_cast<float>(size)); };
    int ink = 0;
    for (int y = at(glyph->V0, rows); y < at(glyph->V1, rows); ++y)
      for (int x = at(glyph->U0, columns); x < at(glyph->U1, columns); ++x) ink += pixels[y * columns + x] > 128;
    EXPECT_GT(ink, 4);
    EXPECT_GE(glyph->Y0, -font_size(font) / 2);
    EXPECT_LE(glyph->Y1, font_size(font) * 1.5F) << "on the line";
  }
}

TEST_F(ShapedText, SurvivesBrokenTextAndOtherFonts) {
  for (const char* text : {"\xE0\xA4", "क\xE0", "\xE0\xA4\xFF\xE0", "", "्", "\u200D", "ิ"}) {
    shaper().shaped(text);
    text_size(fonts.ui, text);
  }
  files.scripts = {};
  add_fonts(atlas, files, 1);
  EXPECT_EQ(shaper().shaped("कि"), "कि");
  EXPECT_FALSE(shaper().has_new());
}
#endif

}  // namespace
}  // namespace attnscope
