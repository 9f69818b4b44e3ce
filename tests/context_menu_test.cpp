// The right button offers what can be done with what the mouse is over.
#include "shell/dialogs/context_menu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/input.h"
#include "shell/actions.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

class RightButton : public testing::Test {
 protected:
  RightButton() {
    show_workspace(scope, *find_workspace("attention"));
    receive(scope, {fixture_run(20)}, fixture_snapshot({}, 1));
    AttentionView& view = scope.views.of<AttentionView>();
    view.level = AttentionLevel::head;
    view.picture = HeadPicture::matrix;
    ui.frames(4, draw);
  }

  AttentionView& view() { return scope.views.of<AttentionView>(); }

  void right_click(ImVec2 at) {
    ui.move(at, draw);
    ui.click(at, draw, 1);
    ui.frames(2, draw);
  }

  // A cell of the matrix: right of a row's label and beneath a column's.
  ImVec2 cell() {
    for (float y = 120; y < 600; y += 12) {
      for (float x = 320; x < 900; x += 12) {
        ui.move({x, y}, draw);
        const auto pointed = hovered_target();
        if (pointed && pointed->thing == HoverTarget::map && !pointed->value.empty() &&
            pointed->name.find("\u2192") != std::string::npos)
          return {x, y};
      }
    }
    ADD_FAILURE() << "no cell";
    return {};
  }

  AppState scope;
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(RightButton, OnACellChoosesItAndCopiesItsValue) {
  const ImVec2 at = cell();
  const std::string value = hovered_target()->value;
  right_click(at);
  EXPECT_TRUE(view().pinned_row.has_value());
  EXPECT_TRUE(view().pinned_col.has_value());
  ASSERT_TRUE(ui.click_text("Copy " + value, draw));
  ui.frames(2, draw);
  EXPECT_EQ(ImGui::GetClipboardText(), value);
}

TEST_F(RightButton, SwitchesTheHeadOffAndOn) {
  const ImVec2 at = cell();
  right_click(at);
  ASSERT_TRUE(ui.click_text("Switch this head off", draw));
  ui.frames(2, draw);
  ASSERT_EQ(view().interventions.heads_off.size(), 1U);
  EXPECT_EQ(view().interventions.heads_off[0], view().place());
  right_click(cell());  // the bar of departures has moved it
  ASSERT_TRUE(ui.click_text("Switch this head off", draw));
  ui.frames(2, draw);
  EXPECT_TRUE(view().interventions.heads_off.empty());
}

TEST_F(RightButton, HidesTheKeyFromEveryQueryThatSeesIt) {
  right_click(cell());
  const int key = *view().pinned_col;
  ASSERT_TRUE(ui.click_text("Mask this key", draw));
  ui.frames(2, draw);
  ASSERT_EQ(view().interventions.hidden.size(), 1U);
  const HiddenKeys& hidden = view().interventions.hidden[0];
  EXPECT_TRUE(std::ranges::all_of(hidden.cells, [&](const auto& it) { return it.key == key; }));
  EXPECT_TRUE(std::ranges::is_sorted(hidden.cells));
  EXPECT_GE(hidden.cells.size(), 1U);
  find_action("hide-key").act(scope);
  EXPECT_TRUE(view().interventions.hidden.empty());
}

// The test's font has no "…".
std::string without_dots(const std::string& title) {
  return title.substr(0, title.find("…"));
}

TEST_F(RightButton, IsMadeOfTheTableOfActions) {
  right_click(cell());
  for (const Action& action : actions())
    EXPECT_TRUE(!action.things.has(HoverTarget::map) || ui.drew(without_dots(action.title(scope)))) << action.name;
}

TEST_F(RightButton, LeadsToTheGlossary) {
  right_click(cell());
  const auto terms = terms_of({.thing = HoverTarget::label, .about = "Beam tree"});
  ASSERT_FALSE(terms.empty());
  EXPECT_EQ(terms.front()->name, "beam search");
  ui.key(Key::escape, draw);
  ui.frames(2, draw);
  const auto tab = ui.find_text("Decoding");
  ASSERT_TRUE(tab);
  right_click(*tab);
  ASSERT_TRUE(ui.click_text("Explain: decoding", draw));
  ui.frames(2, draw);
  EXPECT_TRUE(scope.glossary.open);
}

TEST_F(RightButton, HasAKeyThatAsksAboutTheChosenCell) {
  ui.move({5, 5}, draw);
  ui.key(Key::f10, draw, {.shift = true});
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("Mask this key")) << "no cell is chosen";
  view().pinned_row = 1;
  view().pinned_col = 2;
  ui.frames(2, draw);
  const auto chosen = chosen_target();
  ASSERT_TRUE(chosen);
  ui.key(Key::f10, draw, {.shift = true});
  ui.frames(2, draw);
  const auto item = ui.find_text("Mask this key");
  ASSERT_TRUE(item);
  EXPECT_GT(item->x, chosen->place.x);
  EXPECT_GT(item->y, chosen->place.y);
  ASSERT_TRUE(ui.click_text("Copy " + chosen->value, draw));
  ui.frames(2, draw);
  EXPECT_EQ(ImGui::GetClipboardText(), chosen->value);
}

TEST_F(RightButton, HasAKeyThatAsksAboutTheControlThatTheKeyboardIsAt) {
  view().pinned_row = view().pinned_col = 1;
  const auto label = ui.find_text("num_heads");
  ASSERT_TRUE(label);
  ui.click(*label, draw);
  for (int i = 0; i < 8 && !(focused_target() && !terms_of(*focused_target()).empty()); ++i) ui.key(Key::down, draw);
  ASSERT_TRUE(ui.io().NavVisible);
  ASSERT_TRUE(focused_target());
  const std::string name(terms_of(*focused_target()).front()->name);
  ui.key(Key::f10, draw, {.shift = true});
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Explain: " + name)) << name;
}

TEST_F(RightButton, IsNotAskedByADrag) {
  const ImVec2 at = cell();
  ui.move(at, draw);
  feed_button(ui.io(), 1, true);
  ui.frames(2, draw);
  ui.move({at.x + 40, at.y}, draw);
  feed_button(ui.io(), 1, false);
  ui.frames(3, draw);
  EXPECT_FALSE(ui.drew("Switch this head off"));
}

TEST_F(RightButton, SaysWhyAnActionCannotBeDone) {
  view().part = AttentionPart::encoder;
  view().pinned_col.reset();
  EXPECT_FALSE(applies(find_action("hide-key"), scope));
  EXPECT_THAT(find_action("hide-key").help(scope), testing::HasSubstr("Select a key first"));
}

}  // namespace
}  // namespace attnscope
