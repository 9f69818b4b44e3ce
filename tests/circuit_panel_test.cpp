// The circuit workspace: what is asked when, what is drawn of the answers, and what a click tries.
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "shell/export.h"
#include "shell/looking.h"
#include "shell/panels.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/circuit/modes.h"
#include "workspaces/circuit/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

EffectGrid grid(int rows, int cols, float share) {
  return {rows, cols, std::vector<Effect>(static_cast<std::size_t>(rows) * cols, {share, 1.5F, 7})};
}

Sweep fixture_sweep(Twin of, int positions, int steps) {
  Sweep sweep;
  sweep.of = of;
  sweep.encoder_states = grid(2, positions, 0.25F);
  sweep.decoder_states = grid(2, steps, 0.125F);
  sweep.encoder_heads = sweep.cross_heads = sweep.decoder_heads = grid(1, 2, 0.5F);
  sweep.encoder_rows = {grid(2, positions, 0.75F)};
  sweep.cross_rows = sweep.decoder_rows = {grid(2, steps, 0.0F)};
  return sweep;
}

Tally tally(int turned, double share) {
  return {1, turned / 2, turned - turned / 2, share, share};
}

// One layer: head 2 brings the difference from "tired" to "it", and the decoder's head 1 reads it.
Circuit fixture_circuit(const std::vector<Slot>& words, int pairs) {
  Circuit circuit;
  for (const Slot& word : words) circuit.slots.push_back(word.name);
  circuit.pairs = pairs;
  const std::vector<Tally> each(words.size(), tally(0, 0.25));
  circuit.places = {{0, {2}, tally(2, 1), tally(0, 0), each}, {1, {1}, tally(2, 1), tally(0, 0), each}};
  Hop reading{.part = AttentionPart::encoder, .layer = 0, .members = {{1, 1}}, .read = {2}};
  Hop writing{.part = AttentionPart::cross, .layer = 0, .members = {{0, 0}}, .read = {1}};
  for (Hop* hop : {&reading, &writing}) {
    hop->together = hop->all = tally(2, 0.93);
    hop->alone = {tally(0, 0.01), tally(2, 0.93)};
  }
  circuit.hops = {reading, writing};
  circuit.decoys = {{{AttentionPart::encoder, 0, 0}, 1, 2, 0.97, 0.02, tally(0, 0.008)}};
  return circuit;
}

CircuitLook fixture_look(const std::string& sentence) {
  CircuitLook look;
  look.question = {sentence, "because it was wide", {}};
  look.offers = {"because it was wide", "because it was dark"};
  const std::vector<Token> pieces = {{10, "\u2581because"}, {11, "\u2581zebra"}, {12, "\u2581tired"}, {2, "</s>"}};
  look.facts.clean = {sentence, pieces, "parce qu'il", 7.25};
  look.facts.corrupted = {"because it was wide", pieces, "parce qu'elle", -7.5};
  look.facts.prefix = {{20, "\u2581parce"}};
  look.facts.a = {21, "il"};
  look.facts.b = {22, "elle"};
  look.facts.words = slots_of(pieces);
  look.denoising = fixture_sweep(Twin::corrupted, 4, 2);
  look.noising = fixture_sweep(Twin::clean, 4, 2);
  look.found = fixture_circuit(look.facts.words, 1);
  return look;
}

class CircuitPanel : public testing::Test {
 protected:
  CircuitPanel() {
    scope.layout.workspace = find_workspace("circuit");
    scope.layout.setup_open = scope.layout.curves_open = false;
    receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}}, nullptr);
    scope.timeline.focused = false;
    snapshot = animal_snapshot();
    receive(scope, {}, snapshot);
    ui.frames(3, draw);
  }

  std::vector<StartStudy> studies() const {
    std::vector<StartStudy> found;
    for (const Command& command : scope.commands)
      if (const auto* study = std::get_if<StartStudy>(&command)) found.push_back(*study);
    return found;
  }

  template <typename Answer>
  void end(Answer answer) {
    const auto result = std::make_shared<const StudyResult>(StudyResult{scope.run.run, 20, std::move(answer)});
    receive(scope, {StudyEnded{studies().back().study, result}}, nullptr);
    ui.frames(3, draw);
  }

  std::shared_ptr<Snapshot> snapshot;
  Scope scope;
  CircuitView& view = scope.views.of<CircuitView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(CircuitPanel, AsksOnceForTheSentenceTyped) {
  ASSERT_THAT(studies(), SizeIs(1));
  const auto asked = std::get<CircuitStudy>(studies().front().question).question;
  EXPECT_EQ(asked.clean, snapshot->source_text);
  EXPECT_EQ(asked.corrupted, "");  // whoever knows the corpus offers one
  EXPECT_TRUE(ui.drew("Looking for what tells"));
  ui.frames(5, draw);
  EXPECT_THAT(studies(), SizeIs(1));
}

TEST_F(CircuitPanel, ShowsThePlaceAndTriesAWordThatIsClicked) {
  end(fixture_look(snapshot->source_text));
  for (const char* text : {"parce qu'elle", "7.25", "after layer 1", "as embedded", "take from", "0.25"})
    EXPECT_TRUE(ui.drew(text)) << text;
  EXPECT_TRUE(scope.toasts.empty());
  ASSERT_TRUE(ui.click_text("zebra", draw));
  ASSERT_THAT(studies(), SizeIs(2));
  const ChangedRun run = std::get<TrialStudy>(studies().back().question).run;
  EXPECT_EQ(run.of, Twin::clean);
  ASSERT_THAT(run.changes, SizeIs(1));
  EXPECT_EQ(run.changes[0].site, (ValueSite{ValueKind::state, AttentionPart::encoder, 1}));
  EXPECT_THAT(run.changes[0].positions, ElementsAre(1));
  end(Trial{view.look->question, run, "parce qu'elle a tourn\u00E9", -3, 0.7});
  EXPECT_TRUE(ui.drew("parce qu'elle a tourn\u00E9"));
  EXPECT_TRUE(ui.drew("turned, 0.70"));
  ui.key(Key::backspace, draw);
  EXPECT_TRUE(view.put.empty());
  EXPECT_FALSE(view.trial);
}

TEST_F(CircuitPanel, TheHeadsNameTheDecoy) {
  end(fixture_look(snapshot->source_text));
  ASSERT_TRUE(ui.click_text("Heads", draw));
  EXPECT_TRUE(ui.drew("L1 H2"));
  EXPECT_TRUE(ui.drew("Decoys: L1 H1 looks from"));
  ASSERT_TRUE(ui.click_text("cross-attention", draw));
  EXPECT_EQ(view.rows.cols, 2);
  ui.frames(2, draw);
  EXPECT_TRUE(circuit_numbers(scope.views));
}

TEST_F(CircuitPanel, ThePictureCountsOverTheCorpus) {
  end(fixture_look(snapshot->source_text));
  ASSERT_TRUE(ui.click_text("The circuit", draw));
  ui.frames(3, draw);
  ASSERT_THAT(studies(), SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<CorpusCircuitStudy>(studies().back().question));
  EXPECT_TRUE(ui.drew("counting over the corpus"));
  for (const char* text : {"il | elle", "head 2", "2 of 2 turn, 0.93 of the effect", "looks 0.97, moves 0.01"})
    EXPECT_TRUE(ui.drew(text)) << text;
  CorpusCircuit counted;
  counted.question = view.look->question;
  counted.tried = 58;
  counted.found = fixture_circuit(view.look->facts.words, 32);
  end(counted);
  EXPECT_TRUE(ui.drew("Counted over 32 pairs"));
  ASSERT_TRUE(ui.click_text("do it", draw));
  const ChangedRun run = std::get<TrialStudy>(studies().back().question).run;
  ASSERT_THAT(run.changes, SizeIs(1));
  EXPECT_EQ(run.changes[0].site, (ValueSite{ValueKind::heads, AttentionPart::encoder, 0}));
  EXPECT_THAT(run.changes[0].heads, ElementsAre(1));
}

TEST_F(CircuitPanel, SaysWhyThereIsNone) {
  CircuitLook look = fixture_look(snapshot->source_text);
  look.problem = "There is no circuit: the model writes the same for both sentences.";
  end(look);
  EXPECT_TRUE(ui.drew("writes the same for both"));
  for (const char* mode : {"Heads", "The circuit"}) {
    ASSERT_TRUE(ui.click_text(mode, draw));
    ui.frames(2, draw);
    EXPECT_TRUE(ui.drew("writes the same for both")) << mode;
  }
  EXPECT_THAT(studies(), SizeIs(1));
  EXPECT_FALSE(circuit_numbers(scope.views));
}

TEST_F(CircuitPanel, ASearchGivenUpCanBeBegunAgain) {
  receive(scope, {StudyEnded{studies().back().study, nullptr}}, nullptr);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("Nothing was looked for"));
  EXPECT_THAT(studies(), SizeIs(1));
  ASSERT_TRUE(ui.click_text("again", draw));
  EXPECT_THAT(studies(), SizeIs(2));
}

}  // namespace
}  // namespace attnscope
