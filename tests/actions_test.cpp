// The tables from which menus, keys, tabs and the command line are made.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "shell/actions.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

// The leading ASCII characters: the tests' fonts may lack the others.
std::string latin(const std::string& text) {
  return text.substr(0,
                     static_cast<std::size_t>(std::ranges::find_if(text, [](char c) { return c < 0; }) - text.begin()));
}

TEST(ActionTable, NoNameAndNoKeyIsGivenTwice) {
  std::set<std::string_view> names;
  std::set<std::string> keys;
  for (const Action& action : actions()) {
    EXPECT_TRUE(names.insert(action.name).second) << action.name;
    EXPECT_TRUE(action.act) << action.name;
    if (!action.key.chord) continue;
    EXPECT_TRUE(keys.insert(chord_text(*action.key.chord)).second) << action.name;
  }
  for (const std::span<const Workspace> group : workspace_groups())
    EXPECT_TRUE(keys.insert(chord_text(group_key(group.front()))).second) << group.front().group;
  for (const Workspace& workspace : workspaces()) {
    if (!workspace.keys) continue;
    std::set<std::string> all = keys;
    for (const WorkspaceKey& key : workspace.keys())
      EXPECT_TRUE(all.insert(chord_text(key.chord)).second) << workspace.name << ": " << key.title;
  }
}

TEST(ActionTable, EveryMenuShowsItsActionsAndTheListOfKeysEveryKey) {
  AppState scope;
  receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}}, fixture_snapshot({}, 1));
  UiHarness ui;
  const UiHarness::Draw draw = [&] { draw_shell(scope, ui.textures, ui.skin); };
  ui.frames(3, draw);
  for (const auto& [menu, title] : menus) {
    ASSERT_TRUE(ui.click_text(title, draw));
    ui.frames(2, draw);
    for (const Action& action : actions())
      EXPECT_TRUE(action.place.menu != menu || action.name == std::string_view("chinese") ||  // no font has its glyphs
                  ui.drew(latin(action.title(scope))))
          << action.name;
    ui.key(Key::escape, draw);
  }
  ui.io().DisplaySize = {1700, 720};  // the font here is wide
  scope.show_help = true;
  ui.frames(3, draw);
  for (const Action& action : actions())
    EXPECT_TRUE(!action.key.chord || ui.drew(latin(chord_text(*action.key.chord)))) << action.name;
  EXPECT_TRUE(ui.drew("opens a run's folder, or trains on a text file")) << "the last line of the last column";
  EXPECT_TRUE(ui.drew("Close"));  // all of it has room
}

TEST(WorkspaceTable, NamesAreOfOneEachAndGroupsStandTogether) {
  std::set<std::string> names;
  for (const std::string& name : workspace_names()) EXPECT_TRUE(names.insert(name).second) << name;
  std::set<std::string> views;
  for (const std::string& name : view_names()) EXPECT_TRUE(views.insert(name).second) << name;
  std::set<std::string> groups;
  for (const std::span<const Workspace> group : workspace_groups())
    EXPECT_TRUE(groups.insert(group.front().group).second) << group.front().group;
  EXPECT_LE(groups.size(), 6U) << "each has a number key";
}

TEST(WorkspaceTable, AViewsNameBringsItsWorkspace) {
  Views views;
  for (const std::string& name : view_names()) EXPECT_TRUE(show_view(views, name)) << name;
  EXPECT_EQ(show_view(views, "tree"), find_workspace("decoding"));
  EXPECT_EQ(show_view(views, "inside"), find_workspace("attention"));
  EXPECT_EQ(show_view(views, "kitchen"), nullptr);
}

}  // namespace
}  // namespace attnscope
