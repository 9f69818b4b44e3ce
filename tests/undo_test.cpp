// Ctrl+Z over sentences, settings, interventions, outputs and runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "shell/actions.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "shell/training.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"
#include "workspaces/decoding/view.h"

namespace attnscope {
namespace {

class Undo : public testing::Test {
 protected:
  Undo() {
    scope.layout.sentence = "one";
    receive(scope, {run(1), Status{Activity::paused, 20, "CPU"}}, fixture_snapshot({}, 1));
    ui.frames(3, draw);
    scope.commands.clear();
  }

  static RunOpened run(std::uint64_t number, std::optional<OpenRun> before = {}, std::string folder = {}) {
    RunOpened opened = fixture_run(20);
    opened.run = number;
    opened.before = std::move(before);
    opened.folder = std::move(folder);
    opened.autosaved = true;
    return opened;
  }

  void press_undo() { ui.key(Key::z, draw, {.ctrl = true}); }
  void press_redo() { ui.key(Key::z, draw, {.ctrl = true, .shift = true}); }

  // The last command of that kind, if there is one.
  template <typename Wanted>
  std::optional<Wanted> posted() const {
    std::optional<Wanted> found;
    for (const Command& command : scope.commands)
      if (const auto* wanted = std::get_if<Wanted>(&command)) found = *wanted;
    return found;
  }

  AppState scope;
  AttentionView& attention = scope.views.of<AttentionView>();
  DecodingView& decoding = scope.views.of<DecodingView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(Undo, AnIntactSessionHasNothingToTakeBack) {
  EXPECT_FALSE(can_undo(scope));
  press_undo();
  EXPECT_TRUE(scope.commands.empty());
}

TEST_F(Undo, SentencesGoBackAndForth) {
  set_sentence(scope, "two");
  ui.frames(2, draw);
  set_sentence(scope, "three");
  ui.frames(2, draw);
  press_undo();
  EXPECT_EQ(scope.layout.sentence, "two");
  EXPECT_EQ(scope.asked.text, "two");
  press_undo();
  EXPECT_EQ(scope.layout.sentence, "one");
  press_redo();
  press_redo();
  EXPECT_EQ(scope.layout.sentence, "three");
  EXPECT_FALSE(can_redo(scope));
}

TEST_F(Undo, WhatIsChosenAnewForgetsWhatWasTakenBack) {
  set_sentence(scope, "two");
  ui.frames(2, draw);
  press_undo();
  set_sentence(scope, "other");
  ui.frames(2, draw);
  EXPECT_FALSE(can_redo(scope));
  press_undo();
  EXPECT_EQ(scope.layout.sentence, "one");
}

TEST_F(Undo, WhatWasTypedIsOneStepOnceTheFieldIsLeft) {
  ui.key(Key::t, draw, {.ctrl = true});
  ui.frames(2, draw);
  ui.key(Key::a, draw, {.ctrl = true});
  for (const char* letter : {"t", "w", "o"}) ui.type(letter, draw);
  EXPECT_EQ(scope.layout.sentence, "two");
  EXPECT_FALSE(can_undo(scope));
  ui.key(Key::enter, draw);
  ui.frames(2, draw);
  press_undo();
  EXPECT_EQ(scope.layout.sentence, "one");
  EXPECT_FALSE(can_undo(scope));
}

TEST_F(Undo, EscapeKeepsWhatWasTyped) {
  ui.key(Key::t, draw, {.ctrl = true});
  ui.frames(2, draw);
  ui.key(Key::a, draw, {.ctrl = true});
  ui.type("two", draw);
  ui.key(Key::escape, draw);
  ui.frames(2, draw);
  EXPECT_EQ(scope.layout.sentence, "two");
  EXPECT_EQ(scope.asked.text, "two");
  const int head = attention.head;
  ui.key(Key::right, draw);
  EXPECT_EQ(attention.head, head + 1) << "the arrow keys are the workspace's again";
  ui.key(Key::left, draw);
  press_undo();
  EXPECT_EQ(scope.layout.sentence, "one");
}

TEST_F(Undo, ADoubleClickSelectsAWord) {
  set_sentence(scope, "alpha beta gamma");
  ui.frames(2, draw);
  const auto at = ui.find_text("beta");
  ASSERT_TRUE(at);
  ui.double_click(*at, draw);
  ui.type("x", draw);
  EXPECT_THAT(scope.layout.sentence, testing::HasSubstr("alpha"));
  EXPECT_THAT(scope.layout.sentence, testing::HasSubstr("gamma"));
  EXPECT_THAT(scope.layout.sentence, testing::Not(testing::HasSubstr("beta")));
}

TEST_F(Undo, InterventionsAndForcedPiecesComeBack) {
  attention.interventions.heads_off = {{AttentionPart::encoder, 0, 1}};
  ui.frames(2, draw);
  decoding.prefix_ids = {4};
  ui.frames(2, draw);
  press_undo();
  EXPECT_TRUE(decoding.prefix_ids.empty());
  EXPECT_FALSE(scope.asked.interventions.empty());
  press_undo();
  EXPECT_TRUE(attention.interventions.empty());
  EXPECT_TRUE(scope.asked.interventions.empty());
  press_redo();
  EXPECT_EQ(scope.asked.interventions.heads_off.size(), 1U);
}

TEST_F(Undo, ASettingThatIsInForceAtOnceIsPutInForceAgain) {
  const double before = scope.edited.model.dropout;
  scope.edited.model.dropout = before + 0.1;
  adjust(scope);
  ui.frames(2, draw);
  scope.commands.clear();
  press_undo();
  EXPECT_EQ(scope.edited.model.dropout, before);
  ASSERT_TRUE(posted<Adjust>());
  EXPECT_EQ(posted<Adjust>()->config.model.dropout, before);
}

TEST_F(Undo, AValueOutOfItsRangeComesBackAndIsNotPutInForce) {
  scope.edited.training.threads = -1;
  adjust(scope);
  ui.frames(2, draw);
  scope.edited.training.threads = 2;
  adjust(scope);
  ui.frames(2, draw);
  scope.commands.clear();
  press_undo();
  EXPECT_EQ(scope.edited.training.threads, -1);
  EXPECT_FALSE(posted<Adjust>());
}

TEST_F(Undo, AResetIsTakenBackByOpeningWhatWasKept) {
  const OpenRun kept{.path = "/state/run", .go_on = true};
  receive(scope, {run(2, kept)}, nullptr);
  ui.frames(2, draw);
  ASSERT_TRUE(can_undo(scope));
  EXPECT_EQ(undo_title(scope), "Undo reset");
  press_undo();
  ASSERT_TRUE(posted<OpenRun>());
  EXPECT_EQ(posted<OpenRun>()->path, "/state/run");
  EXPECT_TRUE(posted<OpenRun>()->go_on);
  EXPECT_FALSE(can_undo(scope)) << "while it is being opened";

  const OpenRun other{.path = "/state/other", .go_on = true};
  receive(scope, {run(3, other, "/state/run")}, nullptr);
  ui.frames(2, draw);
  EXPECT_FALSE(can_undo(scope));
  scope.commands.clear();
  press_redo();
  ASSERT_TRUE(posted<OpenRun>());
  EXPECT_EQ(posted<OpenRun>()->path, "/state/other");
}

TEST_F(Undo, WhatWasChosenBeforeAResetComesBackAfterIt) {
  set_sentence(scope, "two");
  ui.frames(2, draw);
  receive(scope, {run(2, OpenRun{.path = "/state/run", .go_on = true})}, nullptr);
  ui.frames(2, draw);
  press_undo();
  receive(scope, {run(3, OpenRun{.path = "/state/other", .go_on = true}, "/state/run")}, nullptr);
  ui.frames(2, draw);
  EXPECT_EQ(scope.layout.sentence, "two");
  press_undo();
  EXPECT_EQ(scope.layout.sentence, "one");
  EXPECT_EQ(scope.a.run.run, 3U);
}

TEST_F(Undo, ARunThatCannotBeOpenedStaysWhereItCanBeTriedAgain) {
  receive(scope, {run(2, OpenRun{.path = "/state/run", .go_on = true})}, nullptr);
  ui.frames(2, draw);
  press_undo();
  ASSERT_TRUE(posted<OpenRun>());
  scope.commands.clear();
  press_undo();
  EXPECT_FALSE(posted<OpenRun>()) << "it is being opened";
  receive(scope, {Status{Activity::preparing, 0, "CPU"}, Status{Activity::idle, 0, "CPU"}}, nullptr);
  EXPECT_TRUE(can_undo(scope));
}

TEST_F(Undo, TheMessageAfterAResetLeadsBack) {
  receive(scope, {run(2, OpenRun{.path = "/state/run", .go_on = true})}, nullptr);
  ui.frames(3, draw);
  scope.commands.clear();
  ASSERT_TRUE(ui.click_text("Undo reset", draw));
  ASSERT_TRUE(posted<OpenRun>());
  EXPECT_EQ(posted<OpenRun>()->path, "/state/run");
}

// ---- runs that were kept

TEST_F(Undo, ARunThatWasKeptIsOfferedOnceWhenTheWindowOpens) {
  AppState fresh;
  const AutosaveList kept{
      {{"/state/empty", "new run", 0, 1700000001}, {"/state/run", "english-french", 3120, 1700000000}}};
  receive(fresh, {kept}, nullptr);
  const UiHarness::Draw draw_fresh = [&] { draw_shell(fresh, ui.textures, ui.skin); };
  ui.frames(3, draw_fresh);
  receive(fresh, {run(1), Status{Activity::idle, 20, "CPU"}}, nullptr);
  ui.frames(3, draw_fresh);
  ASSERT_TRUE(ui.click_text("Continue at step 3 120", draw_fresh));
  const auto* open = std::get_if<OpenRun>(&fresh.commands.back());
  ASSERT_TRUE(open);
  EXPECT_EQ(open->path, "/state/run");
  EXPECT_TRUE(open->go_on);

  AppState later;
  later.layout.offered_run = fresh.layout.offered_run;
  receive(later, {kept}, nullptr);
  EXPECT_TRUE(later.toasts.empty());
  EXPECT_EQ(later.autosaves.size(), 2U);

  AppState opening;  // the run that was open at the end opens by itself, and is not offered
  opening.layout.last_run = "/state/run";
  receive(opening, {kept}, nullptr);
  EXPECT_TRUE(opening.toasts.empty());
}

TEST_F(Undo, TheExampleIsOfferedUnlessItIsOpenAsItShips) {
  const Action& example = find_action("example");
  EXPECT_FALSE(applies(example, scope)) << "it is not installed";
  scope.facts.shipped_run = scope.a.run.folder = "/share/english-french";
  scope.a.status.step = scope.a.run.step;
  EXPECT_FALSE(applies(example, scope));
  scope.a.status.step += 1;
  EXPECT_TRUE(applies(example, scope)) << "it was trained further";
  example.act(scope);
  ASSERT_TRUE(posted<OpenRun>());
  EXPECT_EQ(posted<OpenRun>()->path, "/share/english-french");
}

TEST_F(Undo, TheRunThatIsOpenAtTheEndIsRememberedForTheNextStart) {
  receive(scope, {RunAutosaved{"/state/mine"}}, nullptr);
  EXPECT_EQ(scope.layout.last_run, "/state/mine");
  EXPECT_TRUE(scope.layout.continue_last_run) << "it was saved automatically";
  scope.saved_to = "/home/me/mine";
  receive(scope, {RunAutosaved{"/home/me/mine"}}, nullptr);
  EXPECT_FALSE(scope.layout.continue_last_run);
  scope.saved_to = scope.a.run.folder = "";
  receive(scope, {RunAutosaved{""}}, nullptr);
  EXPECT_EQ(scope.layout.last_run, "") << "nothing can open it";
}

TEST_F(Undo, OpenOffersRecentAndKeptRuns) {
  remember_run(scope, "/home/me/mine");
  receive(scope, {AutosaveList{{{"/state/run", "english-french", 3120, 1700000000}}}}, nullptr);
  ui.key(Key::o, draw, {.ctrl = true});
  EXPECT_TRUE(posted<ListAutosaves>());
  receive(scope, {DirectoryListed{"/home/me", {}, ""}}, nullptr);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("mine"));
  scope.commands.clear();
  ASSERT_TRUE(ui.click_text("english-french, step 3 120", draw));
  ASSERT_TRUE(posted<OpenRun>());
  EXPECT_TRUE(posted<OpenRun>()->go_on);
}

TEST_F(Undo, FromALossThatIsNoNumberOneButtonLeadsBack) {
  receive(scope, {Diverged{41, "the loss", Autosave{"/state/run", "run", 40, 0}}}, nullptr);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("the loss became NaN or infinite first"));
  ASSERT_TRUE(ui.click_text("Back to step 40 with half the learning rate", draw));
  ASSERT_TRUE(posted<OpenRun>());
  EXPECT_EQ(posted<OpenRun>()->rate_factor, 0.5);
  EXPECT_TRUE(posted<OpenRun>()->discard_unsaved);
}

TEST_F(Undo, WhatWouldBeLostIsAskedForFirst) {
  receive(scope, {NotSaved{Reset{}, "the disk is full"}}, nullptr);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("the disk is full"));
  ASSERT_TRUE(ui.click_text("Stay", draw));
  EXPECT_FALSE(posted<Reset>());

  receive(scope, {NotSaved{Reset{}, "the disk is full"}}, nullptr);
  ui.frames(3, draw);
  ASSERT_TRUE(ui.click_text("Discard the run", draw));
  ASSERT_TRUE(posted<Reset>());
  EXPECT_TRUE(posted<Reset>()->discard_unsaved);

  receive(scope, {NotSaved{KeepRun{}, "the disk is full"}}, nullptr);
  ui.frames(3, draw);
  EXPECT_FALSE(scope.requests.end);
  ASSERT_TRUE(ui.click_text("Quit anyway", draw));
  EXPECT_TRUE(scope.requests.end);
}

}  // namespace
}  // namespace attnscope
