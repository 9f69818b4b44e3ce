// Commands that the window posts, and its reactions to events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <imgui_internal.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/input.h"
#include "base/numbers.h"
#include "messages/metrics.h"
#include "posted.h"
#include "shell/actions.h"
#include "shell/panels.h"
#include "shell/purposes.h"
#include "shell/sentence.h"
#include "shell/training.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

class Shell : public testing::Test {
 protected:
  Shell() {
    receive(scope, {fixture_run(20), status(Activity::paused)}, fixture_snapshot({}, 1));
    scope.facts.corpora = {{"english-french", "sentences"}, {"copy", "the source itself"}};
    ui.frames(3, draw);
    scope.commands.clear();
  }

  static Status status(Activity activity) { return {activity, 20, "CPU"}; }

  // Types into the field of that label in the setup column, instead of what it holds.
  void enter(const char* label, const char* text) {
    ui.frame(draw);
    const auto at = ui.find_text(label);
    ASSERT_TRUE(at) << label;
    ui.double_click(ImVec2(190, at->y), draw);
    ui.key(Key::a, draw, {.ctrl = true});
    ui.type(text, draw);
    ui.key(Key::enter, draw);
  }

  AppState scope;
  AttentionView& attention = scope.views.of<AttentionView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(Shell, WhatIsNotLookedAtIsSaidAndWhy) {
  const auto shown = [this](std::int64_t max_length) {
    auto cut = fixture_snapshot({});
    cut->truncated = true;
    cut->model.max_length = max_length;
    cut->model.num_decoder_layers = 2;
    receive(scope, {}, cut);
    ui.frames(2, draw);
    const auto at = ui.find_text("only the first 3 tokens");
    ASSERT_TRUE(at);
    ui.move(*at, draw);
    ui.frames(2, draw);
  };
  shown(24);
  EXPECT_TRUE(ui.drew("longer than model.max_length"));
  shown(4096);  // twelve maps of so many pieces squared
  EXPECT_TRUE(ui.drew("more than 576 MiB"));
}

TEST_F(Shell, ACorpusThatComesLaterBringsItsExamplesAndWarningsAndTheSentenceIsLookedAtAgain) {
  RunOpened opened = fixture_run(20);
  opened.corpus_follows = true;
  opened.examples.clear();
  receive(scope, {opened}, nullptr);
  ASSERT_TRUE(scope.a.run.corpus_follows);
  scope.commands.clear();
  receive(scope, {CorpusRead{.examples = {{scope.layout.sentence, "its translation"}}, .warnings = {"it changed"}}},
          nullptr);
  EXPECT_FALSE(scope.a.run.corpus_follows);
  ASSERT_EQ(posted<Probe>(scope).size(), 1U);
  EXPECT_EQ(posted<Probe>(scope)[0].reference, "its translation");
  ASSERT_FALSE(scope.toasts.empty());
  EXPECT_EQ(scope.toasts.back().message.text, "it changed");
}

TEST_F(Shell, ButtonsPostWhatTheySay) {
  ASSERT_TRUE(ui.click_text("Train", draw));
  EXPECT_EQ(posted<Train>(scope).size(), 1U);
  ASSERT_TRUE(ui.click_text("Step", draw));
  EXPECT_EQ(posted<attnscope::Step>(scope).size(), 1U);
  ASSERT_TRUE(ui.click_text("Reset", draw));
  ASSERT_EQ(posted<Reset>(scope).size(), 1U);
  EXPECT_EQ(posted<Reset>(scope)[0].config, scope.a.run.config);
  receive(scope, {status(Activity::training)}, nullptr);
  ASSERT_TRUE(ui.click_text("Pause", draw));
  EXPECT_EQ(posted<Pause>(scope).size(), 1U);
}

// Another program's checkpoint: it comes without one, and goes on from its own weights.
TEST_F(Shell, AModelWithoutACorpusIsTrainedOnTheOneThatIsChosen) {
  scope.a.run.config.corpus.source.clear();
  scope.a.run.config.model.from = "/models/opus-mt";
  scope.edited = scope.a.run.config;
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("none yet: choose one to train on"));
  ui.key(Key::space, draw);
  EXPECT_EQ(posted<Reset>(scope).size(), 0U) << "the worker says that there is none";
  scope.commands.clear();
  scope.edited.corpus.source = "copy";
  ui.key(Key::space, draw);
  ASSERT_EQ(scope.commands.size(), 2U);
  ASSERT_TRUE(std::holds_alternative<Reset>(scope.commands[0]));
  EXPECT_EQ(std::get<Reset>(scope.commands[0]).config.model.from, "/models/opus-mt");
  EXPECT_EQ(std::get<Reset>(scope.commands[0]).config.corpus.source, "copy");
  EXPECT_TRUE(std::holds_alternative<Train>(scope.commands[1]));
}

TEST_F(Shell, ARunIsBegunWithTheWeightsOfTheOpenOne) {
  scope.a.run.folder = "/runs/mine";
  find_action("begin-with").act(scope);
  EXPECT_EQ(scope.edited.model.from, "/runs/mine");
  EXPECT_EQ(waiting_fields(scope.a.run.config, scope.edited), 1) << "which waits for Reset";
}

TEST_F(Shell, APauseIsSaidAtOnce) {
  receive(scope, {status(Activity::training)}, nullptr);
  ui.key(Key::space, draw);
  EXPECT_THAT(status_line(scope), testing::StartsWith("pausing"));
  receive(scope, {status(Activity::paused)}, nullptr);
  EXPECT_THAT(status_line(scope), testing::StartsWith("paused"));
  receive(scope, {status(Activity::training)}, nullptr);
  EXPECT_THAT(status_line(scope), testing::StartsWith("training"));
}

TEST_F(Shell, AnEmptySentenceIsNotTranslated) {
  set_sentence(scope, " ");
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Type a sentence to translate it."));
}

TEST_F(Shell, ButtonsThatCannotWorkDoNothing) {
  receive(scope, {status(Activity::preparing)}, nullptr);
  for (const char* button : {"Train", "Step", "Reset"}) ui.click_text(button, draw);
  ui.key(Key::space, draw);
  EXPECT_TRUE(scope.commands.empty());
}

TEST_F(Shell, TrainingGoesOnPastItsPlannedEnd) {
  receive(scope, {Status{Activity::finished, scope.a.run.config.training.steps, "CPU"}}, nullptr);
  ASSERT_TRUE(ui.click_text("Train", draw));
  EXPECT_EQ(posted<Train>(scope).size(), 1U);
}

TEST_F(Shell, SpacePlaysAndPauses) {
  ui.key(Key::space, draw);
  EXPECT_EQ(posted<Train>(scope).size(), 1U);
  receive(scope, {status(Activity::training)}, nullptr);
  ui.key(Key::space, draw);
  EXPECT_EQ(posted<Pause>(scope).size(), 1U);
}

TEST_F(Shell, ShortcutsOfTheWindow) {
  ui.key(Key::digit_2, draw);
  EXPECT_EQ(scope.layout.workspace, find_workspace("decoding"));
  ui.key(Key::digit_1, draw);
  EXPECT_EQ(scope.layout.workspace, find_workspace("glance"));
  ui.key(Key::digit_1, draw);
  EXPECT_EQ(scope.layout.workspace, find_workspace("attention"));
  ui.key(Key::digit_1, draw);
  EXPECT_EQ(scope.layout.workspace, find_workspace("embeddings"));
  ui.key(Key::right, draw);
  EXPECT_EQ(posted<attnscope::Step>(scope).size(), 1U) << "which has no other use for it";
  ui.key(Key::digit_1, draw);
  EXPECT_EQ(scope.layout.workspace, find_workspace("flow"));
  ui.key(Key::digit_1, draw);
  EXPECT_EQ(scope.layout.workspace, find_workspace("positions"));
  ui.key(Key::digit_1, draw);
  ui.key(Key::right, draw, {.ctrl = true});
  EXPECT_EQ(posted<attnscope::Step>(scope).size(), 2U);
  EXPECT_EQ(attention.head, 0);
  ui.key(Key::plus, draw, {.ctrl = true});
  EXPECT_FLOAT_EQ(scope.layout.zoom, 1.1F);
  ui.key(Key::minus, draw, {.ctrl = true});
  ui.key(Key::minus, draw, {.ctrl = true});
  EXPECT_LT(scope.layout.zoom, 1);
  ui.key(Key::digit_0, draw, {.ctrl = true});
  EXPECT_EQ(scope.layout.zoom, 1);
  ui.key(Key::q, draw, {.ctrl = true});
  EXPECT_TRUE(scope.requests.quit);
}

TEST_F(Shell, TheKeyboardWalksThroughTheSetupAndBack) {
  const auto label = ui.find_text("Vocabulary size");
  ASSERT_TRUE(label);
  ui.click(*label, draw);
  ui.key(Key::down, draw);
  ui.key(Key::down, draw);
  EXPECT_TRUE(ui.io().NavVisible);
  EXPECT_EQ(attention.layer, 1);
  EXPECT_EQ(attention.part, AttentionPart::cross);
  ui.key(Key::escape, draw);
  ui.key(Key::right, draw);
  ui.key(Key::right, draw);
  EXPECT_EQ(attention.head, 2);
}

TEST_F(Shell, F6GivesTheArrowKeysToTheControlsAndBack) {
  const HeadPlace before = attention.place();
  ui.key(Key::f6, draw);
  std::set<ImGuiID> reached;
  for (const Key key : {Key::up, Key::left, Key::down, Key::right})
    for (int i = 0; i < 12; ++i) {
      ui.key(key, draw);
      reached.insert(ImGui::GetCurrentContext()->NavId);
    }
  EXPECT_TRUE(ui.io().NavVisible);
  EXPECT_GT(reached.size(), 12U);
  EXPECT_EQ(attention.place(), before) << "the view has no arrow keys now";
  ui.key(Key::f6, draw);
  ui.frames(2, draw);
  ui.key(Key::right, draw);
  EXPECT_NE(attention.place(), before);

  ui.key(Key::f6, draw);
  EXPECT_TRUE(moves_through_controls());
  ASSERT_TRUE(ui.click_text("Sentence", draw));
  EXPECT_FALSE(moves_through_controls()) << "a click ends it";
}

TEST_F(Shell, TheListOfSentencesIsOpenedAndChosenFromWithKeys) {
  scope.a.run.examples = {{"The first one.", ""}, {"The second one.", ""}, {"The third one.", ""}};
  ui.frames(2, draw);
  const std::string before = scope.layout.sentence;
  ASSERT_TRUE(ui.drew("Pin"));
  const ImVec2 pin = *ui.find_text("Pin");
  ui.click({pin.x + 35, pin.y}, draw);
  ui.frames(2, draw);
  ASSERT_TRUE(ui.drew("The second one."));
  ui.key(Key::down, draw);
  ui.key(Key::down, draw);
  ui.key(Key::enter, draw);
  ui.frames(2, draw);
  EXPECT_NE(scope.layout.sentence, before);
  EXPECT_FALSE(ui.drew("The second one.") && ui.drew("The third one.")) << "the list is closed";
}

TEST_F(Shell, AListWithoutExamplesSaysWhenThereWillBeSome) {
  scope.a.run.examples.clear();
  const ImVec2 pin = *ui.find_text("Pin");
  ui.click({pin.x + 35, pin.y}, draw);
  for (const bool follows : {false, true}) {
    scope.a.run.corpus_follows = follows;
    ui.frames(2, draw);
    EXPECT_EQ(ui.drew("Examples will appear here once the corpus has been read."), follows);
  }
}

TEST_F(Shell, TheStatusLosesWholeFactsWhereThereIsNoRoom) {
  for (const float width : {950.0F, 1000.0F, 1050.0F, 1100.0F}) {
    ui.io().DisplaySize = {width, 700};
    ui.frames(3, draw);
    const std::string drawn = ui.drawn_text();
    EXPECT_THAT(drawn, HasSubstr("paused")) << width;
    EXPECT_FALSE(std::regex_search(drawn, std::regex("paused[^A-Z]*\\?"))) << width;
  }
}

TEST_F(Shell, PresentationHidesTheChromeUntilEscape) {
  EXPECT_TRUE(ui.drew("d_model"));
  ui.key(Key::f11, draw);
  EXPECT_TRUE(scope.presentation);
  EXPECT_TRUE(scope.requests.fullscreen_changed);
  EXPECT_FALSE(ui.drew("d_model"));
  EXPECT_FALSE(ui.drew("Train"));
  EXPECT_TRUE(ui.drew("Sentence"));
  ui.key(Key::escape, draw);
  EXPECT_FALSE(scope.presentation);
  EXPECT_TRUE(ui.drew("d_model"));
}

// The words that make the difference stand at the end.
TEST_F(Shell, PresentationShowsTheEndOfASentenceThatIsLongerThanItsField) {
  std::string sentence = "First";
  for (int i = 0; i < 60; ++i) sentence += " word";
  set_sentence(scope, sentence + " tired.");
  scope.presentation = ui.skin.presentation = true;
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("word tired."));
  const auto label = ui.find_text("Sentence");
  ASSERT_TRUE(label);
  ui.click({label->x + 200, label->y}, draw);
  ui.key(Key::home, draw);
  EXPECT_TRUE(ui.drew("First word"));
  EXPECT_FALSE(ui.drew("word tired.")) << "it is being edited";
}

TEST_F(Shell, AnOutputThatIsLongerThanItsLineIsCutAndSaysSo) {
  auto inspection = fixture_snapshot({});
  inspection->output_text = "Un";
  for (int i = 0; i < 60; ++i) inspection->output_text += " mot";
  receive(scope, {}, inspection);
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew(inspection->output_text));
  EXPECT_THAT(ui.drawn_text(), testing::ContainsRegex("Un(mot)+(m|mo)?[?]")) << "… is none of this font's letters";
  const auto at = ui.find_text("Un mot mot");
  ASSERT_TRUE(at);
  ui.move(*at, draw);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Greedy decoding"));
}

TEST_F(Shell, AttachAsksForAWindowOnAnotherRun) {
  find_action("attach").act(scope);
  ui.frames(3, draw);
  ASSERT_TRUE(ui.drew("Attach to a run"));
  ui.click_text("Open a window", draw);
  EXPECT_FALSE(scope.requests.attach) << "no address yet";
  ASSERT_TRUE(ui.click_text("HOST:PORT", draw));
  ui.type("example.org:7007", draw);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("example.org:7007"));
  ui.key(Key::enter, draw);
  ui.frames(3, draw);
  ASSERT_TRUE(scope.requests.attach);
  EXPECT_EQ(scope.requests.attach->address, "example.org:7007");
  EXPECT_EQ(scope.requests.attach->token, "");
  EXPECT_FALSE(ui.drew("Attach to a run"));
}

TEST_F(Shell, ServeAsksWhereAndThenSaysWhatOthersNeed) {
  find_action("serve").act(scope);
  ui.frames(3, draw);
  ASSERT_TRUE(ui.drew("Let others watch this run"));
  ASSERT_TRUE(ui.click_text("Watchers may also train and pause", draw));
  ASSERT_TRUE(ui.click_text("Serve", draw));
  ASSERT_TRUE(scope.requests.serve);
  EXPECT_EQ(scope.requests.serve->address, "7700");
  EXPECT_TRUE(scope.requests.serve->control);
  scope.service = Service{"127.0.0.1:7700", "secret-of-this-run", 2};
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("127.0.0.1:7700"));
  EXPECT_TRUE(ui.drew("secret-of-this-run"));
  EXPECT_THAT(status_line(scope), testing::HasSubstr("served, 2 watching"));
  ASSERT_TRUE(ui.click_text("Stop serving", draw));
  EXPECT_TRUE(scope.requests.stop_serving);
  EXPECT_FALSE(scope.serving.open);
}

// Actions that the server would refuse are disabled, and the tooltip says why.
TEST_F(Shell, AWindowOnARunElsewhereOffersWhatItMay) {
  scope.a.status.activity = Activity::paused;
  for (const char* name : {"train", "step", "reset", "compare", "save-run", "open-run"})
    EXPECT_TRUE(applies(find_action(name), scope)) << name;
  scope.rights = Rights::control;
  for (const char* name : {"train", "step"}) EXPECT_TRUE(applies(find_action(name), scope)) << name;
  for (const char* name : {"reset", "compare", "save-run", "open-run", "lessons", "serve"}) {
    EXPECT_FALSE(applies(find_action(name), scope)) << name;
    EXPECT_EQ(help_of(find_action(name), scope), only_where_it_trains) << name;
  }
  scope.rights = Rights::watch;
  scope.layout.setup_open = true;
  for (const Activity activity : {Activity::paused, Activity::training}) {
    scope.a.status.activity = activity;
    for (const char* name : {"train", "step", "pin"}) {
      EXPECT_FALSE(applies(find_action(name), scope)) << name;
      EXPECT_EQ(help_of(find_action(name), scope), only_watches) << name;
    }
    ui.key(Key::space, draw);
    ui.click_text(activity == Activity::training ? "Pause" : "Train", draw);
    EXPECT_FALSE(scope.pausing);
    enter("d_model", "64");
    EXPECT_EQ(scope.edited, scope.a.run.config);
  }
  drop_path(scope, "/corpus.tsv", false);
  EXPECT_TRUE(scope.dropped_file.empty());
  for (const Command& command : scope.commands)
    EXPECT_TRUE(std::holds_alternative<Probe>(command)) << "looks alone are asked for";
}

TEST_F(Shell, AKeyThatDoesNothingHereIsNotNamed) {
  const auto explained = [&] {
    const auto at = ui.find_text("Train");
    EXPECT_TRUE(at);
    ui.move(*at, draw);
    ui.frames(60, draw);  // until it is explained
    return ui.drawn_text();
  };
  scope.a.status.activity = Activity::paused;
  EXPECT_THAT(explained(), testing::HasSubstr("Key:Space"));
  scope.rights = Rights::watch;
  const std::string why_not = explained();
  EXPECT_THAT(why_not, testing::HasSubstr("Read-onlywindow"));
  EXPECT_THAT(why_not, testing::Not(testing::HasSubstr("Key:")));
}

TEST_F(Shell, ThePenDrawsOverEverythingAndReachesNothing) {
  ui.key(Key::d, draw);
  ASSERT_TRUE(scope.pen.held);
  const auto train = ui.find_text("Train");
  ASSERT_TRUE(train);
  ui.drag(*train, {train->x + 200, train->y + 100}, draw);
  EXPECT_TRUE(posted<Train>(scope).empty()) << "the button beneath";
  ASSERT_EQ(scope.pen.lines.size(), 1U);
  ASSERT_GE(scope.pen.lines[0].size(), 2U);
  EXPECT_NEAR(scope.pen.lines[0].front().x * ui.io().DisplaySize.x, train->x, 1);
  EXPECT_NEAR(scope.pen.lines[0].back().y * ui.io().DisplaySize.y, train->y + 100, 1);
  ui.click({300, 300}, draw);
  EXPECT_EQ(scope.pen.lines.size(), 2U) << "a dot";

  ui.key(Key::escape, draw);
  EXPECT_FALSE(scope.pen.held);
  EXPECT_EQ(scope.pen.lines.size(), 2U) << "what was drawn stays";
  ASSERT_TRUE(ui.click_text("Train", draw));
  EXPECT_EQ(posted<Train>(scope).size(), 1U);
  ui.key(Key::d, draw, {.shift = true});
  EXPECT_TRUE(scope.pen.lines.empty());
}

TEST_F(Shell, ThePenGoesWithThePresentation) {
  ui.key(Key::f11, draw);
  ui.key(Key::d, draw);
  ui.drag({200, 200}, {400, 300}, draw);
  ASSERT_EQ(scope.pen.lines.size(), 1U);
  ui.key(Key::escape, draw);
  EXPECT_TRUE(scope.presentation) << "the pen first";
  ui.key(Key::escape, draw);
  EXPECT_FALSE(scope.presentation);
  EXPECT_TRUE(scope.pen.lines.empty());
}

TEST_F(Shell, EveryKeystrokeAsksForALook) {
  const auto label = ui.find_text("Sentence");
  ASSERT_TRUE(label);
  ui.click(ImVec2(label->x + 100, label->y), draw);
  ui.key(Key::a, draw, {.ctrl = true});
  std::uint64_t last = scope.asked.request;
  std::string text;
  for (const char* letter : {"1", " ", "c"}) {
    scope.commands.clear();
    ui.type(letter, draw);
    text += letter;
    ASSERT_EQ(posted<Probe>(scope).size(), 1U);
    EXPECT_EQ(posted<Probe>(scope)[0].text, text);
    EXPECT_GT(posted<Probe>(scope)[0].request, last);
    last = posted<Probe>(scope)[0].request;
  }
  EXPECT_TRUE(posted<Train>(scope).empty());                       // the space was typed
  EXPECT_EQ(scope.layout.workspace, find_workspace("attention"));  // and so was the digit
  ui.key(Key::enter, draw);
  ASSERT_FALSE(scope.layout.recent.empty());
  EXPECT_EQ(scope.layout.recent[0], "1 c");
}

TEST_F(Shell, SpacePlaysInTheFrameAfterEnterLeftAField) {
  const auto label = ui.find_text("Sentence");
  ASSERT_TRUE(label);
  ui.click(ImVec2(label->x + 100, label->y), draw);
  feed_key(ui.io(), Key::enter, true);
  ui.frame(draw);
  feed_key(ui.io(), Key::enter, false);
  feed_key(ui.io(), Key::space, true);
  ui.frame(draw);
  EXPECT_EQ(posted<Train>(scope).size(), 1U);
}

TEST_F(Shell, ProbesThatHaveNotLeftAreReplaced) {
  set_sentence(scope, "a");
  set_sentence(scope, "ab");
  ASSERT_EQ(posted<Probe>(scope).size(), 1U);
  EXPECT_EQ(posted<Probe>(scope)[0].text, "ab");
}

TEST_F(Shell, AnExampleBecomesTheSentence) {
  const auto label = ui.find_text("Sentence");
  ASSERT_TRUE(label);
  // The arrow ends the input, which takes 56 % of the window.
  ui.click(ImVec2(1280 * 0.545F, label->y), draw);
  ASSERT_TRUE(ui.click_text("The cat sleeps.", draw));
  EXPECT_EQ(scope.layout.sentence, "The cat sleeps.");
  ASSERT_EQ(posted<Probe>(scope).size(), 1U);
  EXPECT_EQ(posted<Probe>(scope)[0].text, "The cat sleeps.");
}

TEST_F(Shell, ALiveFieldAppliesAtOnce) {
  scope.edited.model.d_model = 64;  // waits for Reset and must not go along
  ui.wheel(ImVec2(100, 300), -30, draw);
  const auto label = ui.find_text("Label smoothing");
  ASSERT_TRUE(label) << ui.drawn_text();
  ui.click(ImVec2(236, label->y), draw);
  ASSERT_FALSE(posted<Adjust>(scope).empty());
  EXPECT_GT(posted<Adjust>(scope).back().config.training.label_smoothing, 0.3);
  EXPECT_EQ(posted<Adjust>(scope).back().config.model.d_model, 128);
  EXPECT_EQ(waiting_fields(scope.a.run.config, scope.edited), 1);  // d_model still, the other is in force
  EXPECT_TRUE(posted<Reset>(scope).empty());
}

TEST_F(Shell, ARefusedOpenIsNotWaitedFor) {
  AppState empty;
  const auto draw_empty = [&] { draw_shell(empty, ui.textures, ui.skin); };
  ui.frames(2, draw_empty);
  EXPECT_TRUE(ui.drew("Opening the run"));
  receive(empty, {Message{Severity::error, "could not open the run: x does not contain a run"}, status(Activity::idle)},
          nullptr);
  ui.frames(2, draw_empty);
  EXPECT_TRUE(ui.drew("No run is open. Open one with File, Open run"));
  const auto page = scope.a.newest.snapshot;
  receive(scope, {Message{Severity::error, "could not open the run: x does not contain a run"}}, nullptr);
  ui.frames(2, draw);
  EXPECT_EQ(scope.a.newest.snapshot, page);
  EXPECT_FALSE(ui.drew("Opening the run"));
}

TEST_F(Shell, AStructuralFieldWaitsForReset) {
  enter("d_model", "64");
  EXPECT_EQ(scope.edited.model.d_model, 64);
  EXPECT_TRUE(posted<Adjust>(scope).empty());
  EXPECT_EQ(waiting_fields(scope.a.run.config, scope.edited), 1);
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("1 pending change, applied on Reset"));
  ASSERT_TRUE(ui.click_text("Apply", draw));
  ASSERT_EQ(posted<Reset>(scope).size(), 1U);
  EXPECT_EQ(posted<Reset>(scope)[0].config.model.d_model, 64);
}

TEST_F(Shell, RevertTakesTheEditsBack) {
  enter("d_model", "64");
  ASSERT_TRUE(ui.click_text("Revert", draw));
  EXPECT_EQ(scope.edited, scope.a.run.config);
}

TEST_F(Shell, APresetFillsTheSetupAndKeepsTheCorpus) {
  scope.edited.corpus.source = "copy";
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("choose one", draw));
  ASSERT_TRUE(ui.click_text("nanogpt-cpu", draw));
  EXPECT_EQ(scope.edited.model.architecture, "decoder-only");
  EXPECT_EQ(scope.edited.model.max_length, 64);
  EXPECT_EQ(scope.edited.corpus.source, "copy");
  EXPECT_EQ(scope.a.run.config.model.architecture, "encoder-decoder");
  EXPECT_TRUE(posted<Adjust>(scope).empty());
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("nanogpt-cpu"));
  EXPECT_TRUE(ui.drew("pending changes, applied on Reset"));
}

TEST_F(Shell, FieldsThatAConfigurationHasNoUseForAreHidden) {
  ui.io().DisplaySize = ImVec2(1280, 2400);  // all of the column at once
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Encoder layers"));
  EXPECT_FALSE(ui.drew("Bidirectional encoder"));
  scope.edited.model.architecture = "recurrent";
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Bidirectional encoder"));
  EXPECT_FALSE(ui.drew("num_heads"));
  scope.edited.model.architecture = "decoder-only";
  scope.edited.tokenizer.type = "char";
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("Encoder layers"));
  EXPECT_FALSE(ui.drew("Vocabulary size"));
  // Invalid fields are shown even where they have no effect: otherwise nobody could correct them.
  scope.edited.model.num_encoder_layers = 99;
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Encoder layers"));
}

TEST_F(Shell, ChangesThatAreHiddenDoNotWaitForReset) {
  scope.edited.model.rope_theta = 100;  // only RoPE has use for it
  EXPECT_EQ(waiting_fields(scope.a.run.config, scope.edited), 0);
  scope.edited.model.positions = "rope";
  EXPECT_EQ(waiting_fields(scope.a.run.config, scope.edited), 2);
}

TEST_F(Shell, AValueOutOfRangeIsSaidAndNotSent) {
  enter("d_model", "9000");
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("was not applied. Allowed: 8 to 8192. In effect: 128"));
  EXPECT_EQ(scope.edited, scope.a.run.config);
}

TEST_F(Shell, ATypedNumberTakesEffectWhenTypingEnds) {
  scope.layout.density = Density::everything;
  const std::int64_t steps = scope.a.run.config.training.steps;
  const auto begin_typing = [&] {
    show_field(scope, "training.steps");
    ui.frames(3, draw);
    scope.commands.clear();
  };
  begin_typing();
  ui.type("1", draw);  // the beginning of 100
  EXPECT_TRUE(ui.drew("Enter applies it. In effect: " + std::to_string(steps)));
  EXPECT_EQ(scope.edited.training.steps, steps);
  EXPECT_TRUE(posted<Adjust>(scope).empty());
  ui.type("00", draw);
  ui.click({640, 300}, draw);  // leaving the field is as good as Enter
  EXPECT_EQ(scope.edited.training.steps, 100);
  EXPECT_EQ(posted<Adjust>(scope).size(), 1U);
  begin_typing();
  ui.type("5", draw);
  ui.key(Key::escape, draw);
  EXPECT_EQ(scope.edited.training.steps, 100);
  EXPECT_TRUE(posted<Adjust>(scope).empty());
}

TEST_F(Shell, ADecimalCommaIsAPoint) {
  scope.layout.density = Density::everything;
  scope.edited.training.schedule = scope.a.run.config.training.schedule = "constant";
  const auto type_rate = [&](const char* text) {
    show_field(scope, "training.learning_rate");
    ui.frames(3, draw);
    scope.commands.clear();
    ui.type(text, draw);
    EXPECT_TRUE(posted<Adjust>(scope).empty()) << "half-typed";
    ui.key(Key::enter, draw);
  };
  type_rate("0,002");
  EXPECT_EQ(scope.edited.training.learning_rate, 0.002);
  EXPECT_EQ(posted<Adjust>(scope).size(), 1U);
  for (const char* refused : {"20", "0,,1", "x", "1,000,000", "nan"}) {
    type_rate(refused);
    EXPECT_EQ(scope.edited.training.learning_rate, 0.002) << refused;
    EXPECT_TRUE(posted<Adjust>(scope).empty());
    EXPECT_TRUE(ui.drew("was not applied. Allowed: 1e-06 to 10. In effect: 0.002")) << refused;
  }
}

TEST_F(Shell, ComplaintsNameTheField) {
  Config config;
  EXPECT_TRUE(field_complaints(config).empty());
  config.model.num_heads = 5;  // does not divide 128
  EXPECT_EQ(field_complaints(config).count("model.num_heads"), 1U);
  config.model.dropout = 2;
  config.training.batch_size = 0;
  const auto complaints = field_complaints(config);
  ASSERT_EQ(complaints.count("model.dropout"), 1U);
  EXPECT_THAT(complaints.at("model.dropout"), HasSubstr("0 to 0.9"));
  EXPECT_EQ(complaints.count("training.batch_size"), 1U);
}

TEST_F(Shell, DragsOfASliderCoalesce) {
  scope.edited.model.dropout = 0.2;
  adjust(scope);
  scope.edited.model.dropout = 0.3;
  adjust(scope);
  ASSERT_EQ(posted<Adjust>(scope).size(), 1U);
  EXPECT_EQ(posted<Adjust>(scope)[0].config.model.dropout, 0.3);
  scope.edited.model.dropout = 3;
  adjust(scope);
  EXPECT_EQ(posted<Adjust>(scope)[0].config.model.dropout, 0.3);
}

TEST_F(Shell, TheStatusLineSaysWhereTheRunStands) {
  AppState told;
  MetricPoint point;
  point.step = 1241;
  point.set(metric("loss"), 1.8349);
  point.set(metric("tokens_per_second"), 9134);
  // Only the points say how far training is.
  receive(told, {fixture_run(0), Status{Activity::training, 1240, "CPU"}, point}, nullptr);
  EXPECT_EQ(status_line(told), "training · step 1\u00A0241 · loss 1.83 · 9.1k tok/s · CPU");
  EXPECT_EQ(grouped(-1234567), "-1\u00A0234\u00A0567");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(rounded(1.81e6), "1.81M");
  EXPECT_EQ(rounded(230400), "230k");
}

TEST_F(Shell, ANewRunReplacesConfigurationAndCurvesAndIsLookedInto) {
  scope.edited.model.d_model = 64;
  RunOpened next = fixture_run(5);
  next.config.model.d_model = 256;
  next.warnings = {"3 lines skipped"};
  receive(scope, {next}, nullptr);
  EXPECT_EQ(scope.edited.model.d_model, 256);
  EXPECT_EQ(scope.a.curves[metric("loss")].points().x.size(), 5U);
  ASSERT_EQ(posted<Probe>(scope).size(), 1U);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("3 lines skipped"));
}

TEST_F(Shell, ErrorsStayUntilDismissedAndOthersFade) {
  receive(scope, {Message{Severity::info, "saved"}, Message{Severity::error, "disk full"}}, nullptr);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("saved"));
  EXPECT_TRUE(ui.drew("disk full"));
  EXPECT_TRUE(animating(scope));
  ui.frames(static_cast<int>(info_seconds * 1.1 / static_cast<double>(ui.io().DeltaTime)), draw);
  EXPECT_FALSE(ui.drew("saved"));
  EXPECT_TRUE(ui.drew("disk full"));
  EXPECT_FALSE(animating(scope));
  const auto text = ui.find_text("disk full");
  // The cross stands at the right end of the message, which ends near the window's edge.
  ui.click(ImVec2(1280 - 12 - 24, text->y), draw);
  EXPECT_TRUE(scope.toasts.empty());
}

TEST_F(Shell, MessagesNameFilesWithAnySign) {
  notify(scope, Severity::error, "cannot open /data/\xF0\x9F\x98\x80.tsv");
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew(sizeof(ImWchar) > 2 ? ".tsv" : "[1F600].tsv"));
}

TEST_F(Shell, TheSameMessageIsShownOnce) {
  for (int i = 0; i < 3; ++i) notify(scope, Severity::error, "disk full");
  EXPECT_EQ(scope.toasts.size(), 1U);
  for (int i = 0; i < 100; ++i) notify(scope, Severity::error, std::to_string(i));
  EXPECT_LE(scope.toasts.size(), 50U);
}

TEST_F(Shell, LongWorkCanBeCancelled) {
  receive(scope, {Progress{"Reading pairs", 0.5}}, nullptr);
  ui.frames(3, draw);
  ASSERT_TRUE(ui.click_text("Cancel", draw));
  EXPECT_EQ(posted<Cancel>(scope).size(), 1U);
  receive(scope, {Progress{"Reading pairs", 1}}, nullptr);
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("Reading pairs"));
}

TEST_F(Shell, ADroppedFolderIsOpened) {
  drop_path(scope, "/data/run", true);
  ASSERT_EQ(posted<OpenRun>(scope).size(), 1U);
  EXPECT_EQ(posted<OpenRun>(scope)[0].path, "/data/run");
}

TEST_F(Shell, ADroppedFileAsksBeforeTraining) {
  drop_path(scope, "/data/pairs.tsv", false);
  EXPECT_TRUE(scope.commands.empty());
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("/data/pairs.tsv"));
  ASSERT_TRUE(ui.click_text("Reset and train", draw));
  ASSERT_EQ(posted<Reset>(scope).size(), 1U);
  EXPECT_EQ(posted<Reset>(scope)[0].config.corpus.source, "/data/pairs.tsv");
  EXPECT_EQ(posted<Train>(scope).size(), 1U);
  EXPECT_TRUE(scope.dropped_file.empty());
}

TEST_F(Shell, ADroppedFileCanBeKeptForLaterOrForgotten) {
  drop_path(scope, "/data/pairs.tsv", false);
  ui.frames(3, draw);
  ASSERT_TRUE(ui.click_text("Only enter it in the setup", draw));
  EXPECT_EQ(scope.edited.corpus.source, "/data/pairs.tsv");
  EXPECT_TRUE(scope.commands.empty());
  drop_path(scope, "/data/other.tsv", false);
  ui.frames(3, draw);
  ui.key(Key::escape, draw);
  EXPECT_FALSE(ui.drew("/data/other.tsv"));
  EXPECT_EQ(scope.edited.corpus.source, "/data/pairs.tsv");
  EXPECT_TRUE(scope.dropped_file.empty());
}

TEST_F(Shell, ARunIsFoundInTheBrowser) {
  ui.key(Key::o, draw, {.ctrl = true});
  ASSERT_EQ(posted<ListDirectory>(scope).size(), 1U);
  receive(scope, {DirectoryListed{"/data", {{"english-french", true, true, 0}}, ""}}, nullptr);
  ui.frames(3, draw);
  const auto entry = ui.find_text("english-french/");
  ASSERT_TRUE(entry);
  ui.click(*entry, draw);
  // "Open a run" is the title.
  for (int nth = 0; nth < 6 && posted<OpenRun>(scope).empty(); ++nth) {
    const auto button = ui.find_text("Open", nth);
    if (button) ui.click(*button, draw);
  }
  ASSERT_EQ(posted<OpenRun>(scope).size(), 1U);
  EXPECT_EQ(posted<OpenRun>(scope)[0].path, "/data/english-french");
  EXPECT_FALSE(scope.purpose);
}

TEST_F(Shell, TheEnteredPathOfAFileSelectsItInItsFolder) {
  constexpr FileChoice file{.title = "", .accept = "", .advice = "", .files = true},
      run{.title = "", .accept = "", .advice = "", .runs = true};
  FileBrowser browser;
  browser.choice = &file;
  const DirectoryListed listing{"/data", {{"old", true, false, 0}, {"mine.tsv", false, false, 9}}, ""};
  browser.path_text = "/data/mine.tsv";
  receive(browser, listing);
  EXPECT_EQ(browser.selected, 1);
  EXPECT_EQ(browser.path_text, "/data");
  browser.path_text = "/data/old";
  receive(browser, listing);
  EXPECT_EQ(browser.selected, -1);
  browser.choice = &run;
  browser.path_text = "/data/mine.tsv";
  receive(browser, listing);
  EXPECT_EQ(browser.selected, -1) << "a run is wanted";
}

TEST_F(Shell, CtrlTSelectsTheSentenceAlsoWhileItIsBeingTyped) {
  for (const char* sentence : {"One cat.", "Two"}) {
    ui.key(Key::t, draw, {.ctrl = true});
    ui.frames(3, draw);
    ui.type(sentence, draw);
    EXPECT_EQ(scope.layout.sentence, sentence);
  }
}

TEST_F(Shell, EnterAfterAFilesPathOpensIt) {
  constexpr FileChoice file{.title = "t", .accept = "Open", .advice = "a long advice", .files = true};
  FileBrowser browser;
  std::vector<Command> commands;
  std::optional<std::string> chosen;
  const UiHarness::Draw dialog = [&] {
    if (const auto path = draw_browser(browser, commands, ui.skin)) chosen = path;
  };
  open_browser(browser, file, "/data", commands);
  receive(browser, {"/data", {{"mine.tsv", false, false, 9}}, ""});
  ui.frames(3, dialog);
  ASSERT_TRUE(ui.click_text("/data", dialog) || ui.click_text("a folder's path", dialog));
  browser.path_text.clear();
  ui.key(Key::enter, dialog);
  EXPECT_FALSE(chosen) << "a folder is only listed";
  for (const auto& [path, opens] : {std::pair{"/data/none", false}, std::pair{"/data/mine.tsv", true}}) {
    browser.entered = true;
    browser.path_text = path;
    browser.waiting = true;
    receive(browser, {"/data", {{"mine.tsv", false, false, 9}}, ""});
    ui.frames(1, dialog);
    EXPECT_EQ(chosen.has_value(), opens) << path;
  }
  EXPECT_EQ(chosen, "/data/mine.tsv");
}

TEST_F(Shell, SavingAgainAsksOnlyForAnotherPlaceOrAnotherRun) {
  ui.key(Key::s, draw, {.ctrl = true});
  EXPECT_EQ(scope.purpose, Purpose::save_run);
  receive(scope, {DirectoryListed{"/data", {}, ""}}, nullptr);
  ui.frames(3, draw);
  ui.type("mine", draw);
  ui.key(Key::enter, draw);
  ASSERT_EQ(posted<SaveRun>(scope).size(), 1U);
  ui.frames(2, draw);

  ui.key(Key::s, draw, {.ctrl = true});
  ASSERT_EQ(posted<SaveRun>(scope).size(), 2U);
  EXPECT_EQ(posted<SaveRun>(scope)[1].path, "/data/mine");
  EXPECT_FALSE(scope.purpose);

  ui.key(Key::s, draw, {.ctrl = true, .shift = true});
  EXPECT_EQ(scope.purpose, Purpose::save_run);
  ui.key(Key::escape, draw);
  ui.key(Key::escape, draw);
  ui.frames(2, draw);

  receive(scope, {fixture_run(0)}, nullptr);
  scope.purpose.reset();
  ui.frames(2, draw);
  ui.key(Key::s, draw, {.ctrl = true});
  EXPECT_EQ(posted<SaveRun>(scope).size(), 2U);
  EXPECT_EQ(scope.purpose, Purpose::save_run);
}

TEST_F(Shell, AnEmptySentenceAsksForOne) {
  set_sentence(scope, " ");
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Type a sentence, or choose one"));
  scope.layout.workspace = find_workspace("positions");
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("Type a sentence, or choose one"));
}

TEST_F(Shell, ALongPathIsShownByItsEnd) {
  scope.edited.tokenizer.path = "/home/somebody/with/long/folders/and/longer/names/of/models/my.model";
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("my.model"));
  const auto at = ui.find_text("Load from");
  ASSERT_TRUE(at);
  ui.move(ImVec2(190, at->y), draw);
  ui.frames(60, draw);
  EXPECT_TRUE(ui.drew("/home/somebody/with"));
}

TEST_F(Shell, ColumnsCloseAndOpen) {
  scope.layout.setup_open = false;
  scope.layout.curves_open = false;
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("d_model"));
  EXPECT_FALSE(ui.drew("Learning rate"));
  ASSERT_TRUE(ui.click_text("Setup", draw));
  EXPECT_TRUE(scope.layout.setup_open);
  ASSERT_TRUE(ui.click_text("Curves", draw));
  EXPECT_TRUE(scope.layout.curves_open);
}

TEST_F(Shell, HelpOpensAndCloses) {
  ui.key(Key::f1, draw);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("arXiv 1905.10650"));
  ASSERT_TRUE(ui.click_text("Close", draw));
  EXPECT_FALSE(scope.show_help);
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("arXiv 1905.10650"));
}

TEST(LayoutJson, RoundTrips) {
  Layout layout;
  layout.setup_width = 301;
  layout.curves_open = false;
  layout.workspace = find_workspace("positions");
  layout.theme = ThemeName::light;
  layout.zoom = 1.25F;
  layout.density = Density::standard;
  layout.sentence = "L'été, “ça” va → ñ";
  layout.recent = {"b", "a"};
  layout.last_run = "/state/run";
  layout.continue_last_run = true;
  const LayoutRead read = layout_from_json(layout_to_json(layout));
  EXPECT_EQ(read.layout, layout);
  EXPECT_EQ(read.complaint, "");
}

TEST(LayoutJson, AThemeThatWasNotChosenIsTheSystems) {
  AppState scope;
  scope.layout = layout_from_json(layout_to_json(Layout{})).layout;
  EXPECT_EQ(theme_of(scope), ThemeName::dark);
  scope.facts.theme = ThemeName::light;
  EXPECT_EQ(theme_of(scope), ThemeName::light);

  for (const ThemeName chosen : {ThemeName::light, ThemeName::dark}) {
    scope.layout.theme = chosen;
    scope.layout = layout_from_json(layout_to_json(scope.layout)).layout;
    EXPECT_EQ(theme_of(scope), chosen);
  }
  const LayoutRead read = layout_from_json(R"({"theme": "neon"})");
  EXPECT_EQ(read.layout.theme, std::nullopt);
  EXPECT_THAT(read.complaint, HasSubstr("\"theme\""));
}

TEST(LayoutJson, WhatIsNotJsonGivesTheStandard) {
  for (const char* text : {"", "{", "[]", "null", "42", "\"x\"", "\xff\xfe", "{\"zoom\":1e999}"}) {
    const LayoutRead read = layout_from_json(text);
    EXPECT_EQ(read.layout, Layout{}) << text;
    EXPECT_FALSE(read.complaint.empty()) << text;
  }
  EXPECT_FALSE(layout_from_json(std::string(100000, '[')).complaint.empty());
}

TEST(LayoutJson, UnusableFieldsAreNamedAndTheOthersKept) {
  const LayoutRead read = layout_from_json(
      R"({"zoom": 40, "setup_width": "wide", "curves_open": 1, "workspace": "kitchen", "theme": 3,
          "history": ["a", 2], "sentence": "kept", "curves_width": 400, "unknown": {}})");
  EXPECT_EQ(read.layout.zoom, 1);
  EXPECT_EQ(read.layout.setup_width, Layout{}.setup_width);
  EXPECT_TRUE(read.layout.curves_open);
  EXPECT_EQ(read.layout.workspace, find_workspace("attention"));
  EXPECT_EQ(read.layout.sentence, "kept");
  EXPECT_EQ(read.layout.curves_width, 400);
  for (const char* key : {"zoom", "setup_width", "curves_open", "workspace", "theme", "history"}) {
    EXPECT_THAT(read.complaint, HasSubstr(fmt::format("\"{}\"", key)));
  }
}

TEST(LayoutJson, BrokenUtf8InTheSentenceDoesNotCostTheRest) {
  Layout layout;
  layout.sentence = "a\xff";
  layout.zoom = 1.5F;
  const LayoutRead read = layout_from_json(layout_to_json(layout));
  EXPECT_EQ(read.layout.zoom, 1.5F);
  EXPECT_EQ(read.complaint, "");
}

}  // namespace
}  // namespace attnscope
