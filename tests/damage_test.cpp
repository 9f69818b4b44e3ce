// A frame of which only what differs from the one before is drawn has the pixels of one that is drawn whole.
#include "window/damage.h"

#include <backends/imgui_impl_opengl3.h>
#include <gmock/gmock.h>
#include <imgui.h>
#include <stb_image.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <variant>

#include "base/input.h"
#include "shell/app_state.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "window/font_files.h"
#include "window/offscreen.h"
#include "window/renderer.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int width = 400;
constexpr int height = 300;

// Draw data of Dear ImGui's foreground, made by hand.
class DamageTest : public testing::Test {
 protected:
  DamageTest() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {width, height};
    io.DeltaTime = 1.F / 60;
    unsigned char* pixels = nullptr;
    int w = 0, h = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &w, &h);
    io.Fonts->SetTexID((TextureId)(std::uintptr_t)1);
  }
  ~DamageTest() override { ImGui::DestroyContext(); }

  template <typename Draw>
  std::vector<PixelArea> frame(const Draw& draw, const std::set<TextureId>& redrawn = {}) {
    ImGui::NewFrame();
    draw(*ImGui::GetForegroundDrawList());
    ImGui::Render();
    settle_textures();
    return damage.since_last(*ImGui::GetDrawData(), redrawn);
  }

  // Stands in for the renderer, which creates Dear ImGui's own textures from 1.92 on.
  static void settle_textures() {
#if IMGUI_VERSION_NUM >= 19200
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
      texture->SetTexID(1);
      texture->SetStatus(ImTextureStatus_OK);
    }
#endif
  }

  static void square(ImDrawList& list, float x, float y, float size = 10) {
    list.AddRectFilled({x, y}, {x + size, y + size}, 0xFFFFFFFFU);
  }

  Damage damage;
};

TEST_F(DamageTest, TheFirstFrameIsNew) {
  const PixelArea all{0, 0, width, height};
  EXPECT_THAT(frame([](ImDrawList& list) { square(list, 20, 30); }), ElementsAre(all));
  EXPECT_THAT(frame([](ImDrawList& list) { square(list, 20, 30); }), IsEmpty());
  damage.forget();
  EXPECT_THAT(frame([](ImDrawList& list) { square(list, 20, 30); }), ElementsAre(all));
}

TEST_F(DamageTest, WhatMovesChangesWhereItWasAndWhereItIs) {
  frame([](ImDrawList& list) {
    square(list, 20, 30);
    square(list, 200, 200);
    square(list, 350, 10);
  });
  const auto areas = frame([](ImDrawList& list) {
    square(list, 20, 30);
    square(list, 100.5F, 250);
    square(list, 350, 10);
  });
  EXPECT_THAT(areas, testing::UnorderedElementsAre(PixelArea{200, 200, 210, 210}, PixelArea{100, 250, 111, 260}));
}

TEST_F(DamageTest, WhatComesInBetweenChangesNothingBehindIt) {
  frame([](ImDrawList& list) {
    square(list, 20, 30);
    square(list, 350, 10);
  });
  EXPECT_THAT(frame([](ImDrawList& list) {
                square(list, 20, 30);
                square(list, 200, 200);
                square(list, 350, 10);
              }),
              ElementsAre(PixelArea{200, 200, 210, 210}));
}

TEST_F(DamageTest, ATextureThatIsDrawnAnewChangesAllThatShowsIt) {
  const auto texture = (TextureId)(std::uintptr_t)7;
  const auto draw = [&](ImDrawList& list) {
    square(list, 20, 30);
    list.AddImage(texture, {100, 100}, {150, 140});
  };
  frame(draw);
  EXPECT_THAT(frame(draw), IsEmpty());
  EXPECT_THAT(frame(draw, {texture}), ElementsAre(PixelArea{100, 100, 150, 140}));
}

TEST_F(DamageTest, NothingBeyondTheClipRectangleIsChanged) {
  const auto draw = [](float x) {
    return [x](ImDrawList& list) {
      list.PushClipRect({40, 40}, {60, 60});
      square(list, x, 30, 50);
      list.PopClipRect();
    };
  };
  frame(draw(20));
  EXPECT_THAT(frame(draw(50)), ElementsAre(PixelArea{40, 40, 60, 60}));
}

TEST_F(DamageTest, AreasAreFewAndDoNotOverlap) {
  std::mt19937 random(4);
  std::uniform_real_distribution<float> x(0, width), y(0, height), size(1, 60);
  const auto draw = [&](ImDrawList& list) {
    for (int i = 0; i < 40; ++i) square(list, x(random), y(random), size(random));
  };
  frame(draw);
  for (int round = 0; round < 20; ++round) {
    const auto areas = frame(draw);
    EXPECT_LE(areas.size(), 8U);
    for (std::size_t i = 0; i < areas.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const bool apart = areas[i].right <= areas[j].left || areas[j].right <= areas[i].left ||
                           areas[i].bottom <= areas[j].top || areas[j].bottom <= areas[i].top;
        EXPECT_TRUE(apart);
      }
    }
  }
}

// The real window: whatever was done, the picture that has grown from change to change is the one that is drawn whole.
class ChangedPicture {
 public:
  explicit ChangedPicture(float scale) : screen_(1280, 720), renderer_(find_pinned_fonts()), scale_(scale) {
    prepare_input(ImGui::GetIO());
    receive(scope, {fixture_run(400), Status{Activity::paused, 400, "CPU, 2 threads"}}, nullptr);
    receive(scope, {}, animal_snapshot(scope.asked.request));
  }

  void draw(ImVec2 mouse = {-1000, -1000}) {
    renderer_.draw(scope, scale_, [&] {
      ImGui::GetIO().DisplaySize = {1280, 720};
      ImGui::GetIO().DeltaTime = 1.F / 60;
      feed_mouse(ImGui::GetIO(), mouse);
    });
    // Its progress lies over the window, but over no picture: nobody answers here.
    if (scope.study) receive(scope, {StudyEnded{scope.study->number, nullptr}}, nullptr);
  }

  std::vector<std::uint8_t> pixels() {
    for (int frame = 0; frame < 4; ++frame) draw();
    return screen_.read();
  }

  // Pixels of the present picture that differ from the same drawn whole.
  int differences() {
    draw();
    draw();
    const std::vector<std::uint8_t> changed = screen_.read();
    scope.exports.picture = PictureOrder{.path = "a.png", .replace = true, .vector = false, .whole_window = true};
    draw();
    const auto* file = std::get_if<WriteFile>(&scope.commands.back());
    if (file == nullptr) return -1;
    int w = 0, h = 0, channels = 0;
    const std::unique_ptr<stbi_uc, void (*)(void*)> whole(
        stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file->bytes.data()),
                              static_cast<int>(file->bytes.size()), &w, &h, &channels, 4),
        stbi_image_free);
    int differing = 0;
    for (std::size_t i = 0; i < changed.size(); i += 4)
      differing += std::equal(changed.begin() + static_cast<std::ptrdiff_t>(i),
                              changed.begin() + static_cast<std::ptrdiff_t>(i) + 4, whole.get() + i)
                       ? 0
                       : 1;
    scope.commands.clear();
    scope.toasts.clear();
    return differing;
  }

  AppState scope;

 private:
  Offscreen screen_;
  Renderer renderer_;
  float scale_;
};

TEST(ChangedPicture, IsTheOneDrawnWhole) {
  for (const float scale : {1.F, 1.5F}) {
    ChangedPicture picture(scale);
    std::mt19937 random(2);
    std::uniform_real_distribution<float> x(0, 1280), y(0, 720);
    for (std::size_t i = 0; i < workspaces().size(); ++i) {
      picture.scope.layout.workspace = &workspaces()[i];
      for (int step = 0; step < 6; ++step) picture.draw({x(random), y(random)});
      EXPECT_EQ(picture.differences(), 0) << workspaces()[i].name;
      picture.scope.layout.sentence += " a";
      receive(picture.scope, {Status{Activity::training, 400 + static_cast<std::int64_t>(i), "CPU"}},
              animal_snapshot(picture.scope.asked.request));
      picture.draw({x(random), y(random)});
      EXPECT_EQ(picture.differences(), 0) << workspaces()[i].name << " with another sentence";
    }
    picture.scope.layout.theme = ThemeName::light;
    EXPECT_EQ(picture.differences(), 0) << "another theme";
  }
}

// Fonts are made anew for another zoom, a projector, and signs that no font had so far.
TEST(Fonts, ThatAreMadeAnewAreDrawnAsThoseMadeAtOnce) {
  const auto zoomed = [](AppState& scope) { scope.layout.zoom = 1.25F; };
  const auto projected = [](AppState& scope) { scope.presentation = true; };
  const std::vector<std::function<void(AppState&)>> changes = {zoomed, projected};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    std::vector<std::uint8_t> before, changed, at_once;
    {
      ChangedPicture picture(1);
      before = picture.pixels();
      changes[i](picture.scope);
      changed = picture.pixels();
    }
    {
      ChangedPicture picture(1);
      changes[i](picture.scope);
      at_once = picture.pixels();
    }
    EXPECT_NE(changed, before) << i;
    EXPECT_EQ(changed, at_once) << i;
  }
}

}  // namespace
}  // namespace attnscope
