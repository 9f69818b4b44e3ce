// The atlas of glyphs, in sizes and with scripts that Dear ImGui's builder has no room for.
#include <gtest/gtest.h>
#include <imgui.h>

#include <initializer_list>
#include <vector>

#include "base/fonts.h"
#include "window/font_files.h"

namespace attnscope {
namespace {

constexpr int largest_texture = 16384;  // of common drivers

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
      EXPECT_LE(atlas.TexWidth, largest_texture) << scale;
      EXPECT_LE(atlas.TexHeight, largest_texture) << scale;
      for (const ImFont* font : {fonts.ui, fonts.bold, fonts.large, fonts.small, fonts.mono, fonts.mono_small}) {
        EXPECT_TRUE(has_glyph(font, 'M') && has_glyph(font, 0x2581)) << scale;
        for (const ImFontGlyph& glyph : glyphs_of(font))
          EXPECT_LE((glyph.X1 - glyph.X0) * (glyph.Y1 - glyph.Y0), 65536) << scale;
      }
    }
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

}  // namespace
}  // namespace attnscope
