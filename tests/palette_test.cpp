// Ctrl+P finds everything that can be seen or done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "config/presets.h"
#include "shell/actions.h"
#include "shell/dialogs/palette.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

class PaletteWindow : public testing::Test {
 protected:
  PaletteWindow() {
    receive(scope, {fixture_run(20)}, fixture_snapshot({}, 1));
    scope.facts.corpora = {{"english-french", "sentences"}, {"copy", "the source itself"}};
    ui.frames(3, draw);
  }

  void open() {
    ui.key(Key::p, draw, {.ctrl = true});
    ui.frames(2, draw);
  }

  bool finds(const std::string& typed, const std::string& title, const std::string& where = "") const {
    const auto found = found_in(palette_entries(scope), typed);
    return std::ranges::any_of(found, [&](const PaletteEntry& entry) {
      return entry.title == title && (where.empty() || entry.where == where);
    });
  }

  AppState scope;
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(PaletteWindow, HasEveryActionOfTheMenusViewSettingCorpusAndPreset) {
  for (const Action& action : actions()) {
    if (!action.place.menu || action.name == "palette") continue;
    EXPECT_TRUE(finds(action.title(scope), action.title(scope))) << action.name;
  }
  for (const Workspace& workspace : workspaces()) {
    EXPECT_TRUE(finds(workspace.title, workspace.title, "View"));
    if (!workspace.views) continue;
    for (const WorkspaceView& view : workspace.views()) EXPECT_TRUE(finds(view.title, view.title, workspace.title));
  }
  for (const ConfigField& field : config_fields())
    EXPECT_TRUE(finds(std::string(field.label), std::string(field.label)));
  EXPECT_TRUE(finds("gru", std::string(config_field("model.cell").label))) << "by one of its values";
  for (const BuiltinCorpus& corpus : scope.facts.corpora) EXPECT_TRUE(finds(corpus.name, corpus.name, "Corpus"));
  for (const Preset& preset : presets())
    EXPECT_TRUE(finds(std::string(preset.name), std::string(preset.name), "Preset"));
}

TEST_F(PaletteWindow, TitlesComeBeforeExplanations) {
  const auto found = found_in(palette_entries(scope), "WARM");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().title, std::string(config_field("training.warmup_steps").label));
  EXPECT_TRUE(found_in(palette_entries(scope), "warm qqq").empty()) << "every word counts";
  EXPECT_EQ(found_in(palette_entries(scope), "  ").size(), palette_entries(scope).size());
}

TEST_F(PaletteWindow, WhatIsTypedIsDoneWithEnter) {
  open();
  ui.type("beam tree", draw);
  ui.key(Key::enter, draw);
  ui.frames(2, draw);
  EXPECT_EQ(scope.layout.workspace, find_workspace("decoding"));
  EXPECT_FALSE(ui.drew("Type what you want"));
}

TEST_F(PaletteWindow, ArrowsChooseAndEscapeLeavesEverythingAsItWas) {
  open();
  EXPECT_TRUE(ui.drew("1 of"));
  ui.key(Key::down, draw);
  ui.key(Key::down, draw);
  ui.key(Key::up, draw);
  ui.frame(draw);
  EXPECT_EQ(scope.palette.chosen, 1);
  EXPECT_TRUE(ui.drew("2 of"));
  int rows = 0;
  const auto is_marked = [&](float y) {
    return ui.filled({ui.io().DisplaySize.x / 2, y}, ImGui::GetColorU32(ImGuiCol_Header));
  };
  for (float y = 1; y < ui.io().DisplaySize.y; ++y) rows += is_marked(y) && !is_marked(y - 1) ? 1 : 0;
  EXPECT_EQ(rows, 1) << "only the chosen entry is marked";
  const Layout before = scope.layout;
  ui.key(Key::escape, draw);
  ui.frames(2, draw);
  EXPECT_EQ(scope.layout, before);
  EXPECT_FALSE(ui.drew("2 of"));
}

TEST_F(PaletteWindow, ASettingIsOpenedAndAPresetTaken) {
  scope.layout = first_layout();
  open();
  ui.type("d_model", draw);
  ui.key(Key::enter, draw);
  ui.frames(3, draw);
  EXPECT_TRUE(scope.layout.setup_open);
  EXPECT_TRUE(ui.drew("d_model"));
  ui.type("7", draw);
  EXPECT_TRUE(ui.drew("d_model 7")) << "its field has the keyboard";
  ui.key(Key::escape, draw);
  open();
  ui.type("copy corpus", draw);
  ui.key(Key::enter, draw);
  EXPECT_EQ(scope.edited.corpus.source, "copy");
  ui.key(Key::escape, draw);
  open();
  ui.type("nanogpt-cpu", draw);
  ui.key(Key::enter, draw);
  EXPECT_EQ(scope.edited, with_preset(preset("nanogpt-cpu"), scope.edited.corpus));
}

TEST_F(PaletteWindow, ADialogThatItOpensStaysOpen) {
  open();
  ui.type("compare with", draw);
  ui.key(Key::enter, draw);
  ui.frames(5, draw);
  EXPECT_TRUE(ui.drew("Restart A as well"));
  ui.key(Key::escape, draw);
  ui.frames(3, draw);
  EXPECT_FALSE(ui.drew("Restart A as well"));
}

TEST_F(PaletteWindow, WhatDoesNotApplyIsNotDone) {
  scope.a.status.activity = Activity::idle;
  open();
  ui.type("redo", draw);
  ui.key(Key::enter, draw);
  EXPECT_TRUE(ui.drew("Redo")) << "still open: there is nothing to be done again";
}

}  // namespace
}  // namespace attnscope
