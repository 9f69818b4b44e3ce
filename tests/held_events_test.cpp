// Letters typed right after a shortcut reach the field it opens, with Dear ImGui 1.87 and later.
#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "base/input.h"
#include "ui_harness.h"
#include "window/held_events.h"

namespace attnscope {
namespace {

#if IMGUI_VERSION_NUM >= 18700

constexpr Chord save{.key = Key::s, .ctrl = true};

class HeldEventsTest : public testing::Test {
 protected:
  void draw() {
    ImGui::Begin("window");
    if (pressed(save)) ++saves;
    if (opens_at == 0) ImGui::SetKeyboardFocusHere();
    if (saves > 0) {
      if (opens_at <= 0) ImGui::InputText("field", &text);
      --opens_at;
    }
    ImGui::End();
  }
  void letter(Key key, unsigned character) {
    feed_key(ImGui::GetIO(), key, true);
    ImGui::GetIO().AddInputCharacter(character);
    feed_key(ImGui::GetIO(), key, false);
  }
  void press_save() {
    ImGuiIO& io = ImGui::GetIO();
    feed_modifiers(io, {.ctrl = true});
    ui.frames(1, [&] { draw(); });
    feed_key(io, Key::s, true);
    feed_modifiers(io, {});
    feed_key(io, Key::s, false);
  }

  UiHarness ui;
  HeldEvents held;
  int saves = 0;
  int opens_at = 1;  // frames after the shortcut
  std::string text;
};

TEST_F(HeldEventsTest, LettersAfterAShortcutWaitForTheFieldThatItOpens) {
  ui.frames(2, [&] { draw(); });
  press_save();
  letter(Key::a, 'a');
  letter(Key::c, 'c');
  ui.frames(1, [&] { draw(); });
  EXPECT_FALSE(held.empty());
  ui.frames(12, [&] { draw(); });
  EXPECT_EQ(text, "ac");
  EXPECT_TRUE(held.empty());
}

TEST_F(HeldEventsTest, AShortcutWhoseCtrlIsReleasedFirstIsStillOne) {
  ui.frames(2, [&] { draw(); });
  press_save();
  ui.frames(6, [&] { draw(); });
  EXPECT_EQ(saves, 1);
}

TEST_F(HeldEventsTest, OrdinaryInputIsNotDelayed) {
  saves = 1;
  opens_at = 0;
  ui.frames(4, [&] { draw(); });
  letter(Key::a, 'a');
  ui.frames(2, [&] { draw(); });
  EXPECT_EQ(text, "a");
}

#else

TEST(HeldEvents, AreLeftToTheInputQueueByEarlierVersions) {
  UiHarness ui;
  const HeldEvents held;
  feed_key(ImGui::GetIO(), Key::a, true);
  EXPECT_TRUE(held.empty());
}

#endif

}  // namespace
}  // namespace attnscope
