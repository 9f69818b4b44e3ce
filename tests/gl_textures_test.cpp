// Pictures that share textures: each has its own pixels, and none of its neighbours'.
#include "window/gl_textures.h"

#include <GL/gl.h>
#include <backends/imgui_impl_opengl3.h>
#include <gtest/gtest.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "common/color_map.h"
#include "window/offscreen.h"
#include "window/renderer.h"

namespace attnscope {
namespace {

constexpr Color32 red = 0xFF0000FFU, green = 0xFF00FF00U;

class GlTexturesTest : public testing::Test {
 protected:
  TexturePart ask(std::uint64_t key, int width, int height, Color32 color = red, std::uint64_t version = 1,
                  Sharing sharing = Sharing::shared) {
    return textures.texture(key, version, width, height, sharing, [&](std::span<std::uint32_t> rgba) {
      ++fills;
      std::ranges::fill(rgba, color);
    });
  }

  static void bind(const TexturePart& part) {
    glBindTexture(GL_TEXTURE_2D, (GLuint)(std::uintptr_t)part.texture);  // a pointer or an integer, by release
  }

  // Its pixels on the GPU.
  std::vector<Color32> pixels(const TexturePart& part) {
    textures.upload();
    bind(part);
    GLint width = 0, height = 0;
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_WIDTH, &width);
    glGetTexLevelParameteriv(GL_TEXTURE_2D, 0, GL_TEXTURE_HEIGHT, &height);
    std::vector<Color32> whole(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)), result;
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, whole.data());
    const auto pixel = [](float coordinate, int size) {
      return static_cast<int>(std::lround(coordinate * static_cast<float>(size)));
    };
    for (int y = pixel(part.low.y, height); y < pixel(part.high.y, height); ++y)
      for (int x = pixel(part.low.x, width); x < pixel(part.high.x, width); ++x)
        result.push_back(whole[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + x]);
    return result;
  }

  Offscreen screen{200, 200};
  GlTextures textures;
  int fills = 0;
};

TEST_F(GlTexturesTest, SmallOnesShareATextureAndKeepTheirPixels) {
  const TexturePart a = ask(1, 10, 12, red), b = ask(2, 64, 64, green);
  EXPECT_EQ(a.texture, b.texture);
  EXPECT_EQ(pixels(a), std::vector<Color32>(10 * 12, red));
  EXPECT_EQ(pixels(b), std::vector<Color32>(64 * 64, green));
}

TEST_F(GlTexturesTest, ManySmallOnesTakeFewTextures) {
  std::set<TextureId> used;
  for (std::uint64_t key = 0; key < 192; ++key) used.insert(ask(key, 64, 64).texture);
  EXPECT_EQ(used.size(), 3U);
  EXPECT_EQ(textures.redrawn(), used);
}

TEST_F(GlTexturesTest, ALargeOneHasOneOfItsOwn) {
  const TexturePart a = ask(1, 200, 30), b = ask(2, 200, 30, green);
  EXPECT_NE(a.texture, b.texture);
  EXPECT_EQ(pixels(a), std::vector<Color32>(200 * 30, red));
  EXPECT_EQ(pixels(b), std::vector<Color32>(200 * 30, green));
}

TEST_F(GlTexturesTest, OneThatSharesWithNobodyHasATextureToItsEdges) {
  const TexturePart a = ask(1, 64, 64), b = ask(2, 64, 64, green, 1, Sharing::alone);
  EXPECT_NE(a.texture, b.texture);
  EXPECT_EQ(pixels(b), std::vector<Color32>(64 * 64, green));
  EXPECT_EQ(b.low.x, 0);
  EXPECT_EQ(b.high.x, 1);
}

TEST_F(GlTexturesTest, OnlyWhatHasChangedIsSent) {
  ask(1, 20, 20);
  ask(2, 20, 20);
  textures.end_frame();
  ask(1, 20, 20);
  ask(2, 20, 20);
  EXPECT_EQ(fills, 2);
  EXPECT_TRUE(textures.redrawn().empty());
  ask(1, 20, 20, green, 2);
  EXPECT_EQ(fills, 3);
  EXPECT_EQ(pixels(ask(1, 20, 20, green, 2)), std::vector<Color32>(400, green));
  EXPECT_EQ(pixels(ask(2, 20, 20)), std::vector<Color32>(400, red));
}

TEST_F(GlTexturesTest, OneThatGrowsMovesAndLeavesItsPlace) {
  const TexturePart kept = ask(1, 20, 20), small = ask(2, 20, 20);
  for (const int side : {100, 300, 64}) {
    const TexturePart part = ask(2, side, side, green);
    EXPECT_EQ(pixels(part), std::vector<Color32>(static_cast<std::size_t>(side) * side, green)) << side;
    EXPECT_EQ(pixels(kept), std::vector<Color32>(400, red)) << side;
  }
  const TexturePart back = ask(2, 20, 20);
  EXPECT_EQ(back.texture, small.texture);
  EXPECT_EQ(back.low.x, small.low.x);
}

TEST_F(GlTexturesTest, WhatIsNotAskedForIsForgotten) {
  ask(1, 20, 20);
  const TexturePart other = ask(2, 20, 20, green);
  for (int frame = 0; frame < 300; ++frame) {
    ask(2, 20, 20, green);
    textures.end_frame();
  }
  EXPECT_EQ(fills, 2);
  EXPECT_EQ(pixels(other), std::vector<Color32>(400, green));
  ask(1, 20, 20);
  EXPECT_EQ(fills, 3);
}

// A screen whose pixel centers lie on the edges of the picture.
TEST_F(GlTexturesTest, NoNeighbourShowsAtAnEdge) {
  TexturePart middle;
  for (std::uint64_t key = 0; key < 64; ++key) {
    const TexturePart part = ask(key, 64, 64, key == 27 ? green : red);
    if (key == 27) middle = part;
  }
  textures.upload();
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  ImGui::GetIO().DisplaySize = {200, 200};
  ImGui_ImplOpenGL3_Init("#version 130");
  for (const float side : {17.0F, 46.0F, 64.0F, 90.0F, 128.0F}) {
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    ImGui::GetForegroundDrawList()->AddImage(middle.texture, {30.5F, 40.5F}, {30.5F + side, 40.5F + side}, middle.low,
                                             middle.high);
    ImGui::Render();
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    const std::vector<Color32> seen = read_pixels(0, 0, 200, 200);
    EXPECT_EQ(std::ranges::count(seen, green), static_cast<std::ptrdiff_t>(side * side)) << side;
    EXPECT_EQ(std::ranges::count(seen, red), 0) << side;
  }
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
}

}  // namespace
}  // namespace attnscope
