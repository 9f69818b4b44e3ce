// The circuit workspace: what is asked when, what is drawn of the answers, and what a click tries.
#include <gmock/gmock.h>
#include <imgui_internal.h>

#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "analysis/head_agreement.h"
#include "circuit_fixture.h"
#include "shell/export.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"
#include "workspaces/circuit/modes.h"
#include "workspaces/circuit/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

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
    const auto result = std::make_shared<const StudyResult>(StudyResult{scope.a.run.run, 20, std::move(answer)});
    receive(scope, {StudyEnded{studies().back().study, result}}, nullptr);
    ui.frames(3, draw);
  }

  // Clicks the tab in the line of "By position", because "Circuit" is also the name of the workspace.
  bool click_tab(std::string_view title) {
    ui.frame(draw);
    const auto first = ui.find_text("By position");
    for (int nth = 0; first && ui.find_text(title, nth); ++nth) {
      const ImVec2 at = *ui.find_text(title, nth);
      if (at.x < first->x || at.y < first->y - 4 || at.y > first->y + 4) continue;
      ui.click(at, draw);
      return true;
    }
    return false;
  }

  std::shared_ptr<Snapshot> snapshot;
  AppState scope;
  CircuitView& view = scope.views.of<CircuitView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(CircuitPanel, AsksOnceForTheSentenceTyped) {
  ASSERT_THAT(studies(), SizeIs(1));
  const auto asked = std::get<CircuitStudy>(studies().front().question).question;
  EXPECT_EQ(asked.clean, snapshot->source_text);
  EXPECT_EQ(asked.corrupted, "");  // whoever knows the corpus offers one
  EXPECT_TRUE(ui.drew("Comparing the sentence with a contrast sentence"));
  ui.frames(5, draw);
  EXPECT_THAT(studies(), SizeIs(1));
}

bool is_of_the_circuit(const StudyQuestion& question) {
  return std::visit(
      [](const auto& it) {
        using Question = std::decay_t<decltype(it)>;
        return (std::is_same_v<Question, CircuitStudy> || std::is_same_v<Question, CorpusCircuitStudy> ||
                std::is_same_v<Question, FormationStudy> || std::is_same_v<Question, SweepQuestion> ||
                std::is_same_v<Question, ScoreQuestion> || std::is_same_v<Question, HeadsQuestion> ||
                std::is_same_v<Question, HeadsHistoryQuestion> || std::is_same_v<Question, AttributionQuestion>);
      },
      question);
}

// Training is not held up by what nobody looks at.
TEST_F(CircuitPanel, AsksNothingWhileItIsClosed) {
  for (const Workspace& other : workspaces()) {
    if (&other == find_workspace("circuit")) continue;
    AppState closed;
    closed.layout.workspace = &other;
    receive(closed, {fixture_run(20), Status{Activity::training, 20, "CPU"}}, nullptr);
    receive(closed, {}, animal_snapshot());
    ui.frames(5, [&] { draw_shell(closed, ui.textures, ui.skin); });
    for (const Command& command : closed.commands) {
      const auto* study = std::get_if<StartStudy>(&command);
      EXPECT_FALSE(study && is_of_the_circuit(study->question)) << other.name;
    }
  }
}

TEST_F(CircuitPanel, ShowsThePlaceAndTriesAWordThatIsClicked) {
  end(fixture_result(snapshot->source_text));
  for (const char* text : {"parce qu'elle", "7.25", "after layer 1", "before layer 1", "Patch from", "0.25"})
    EXPECT_TRUE(ui.drew(text)) << text;
  EXPECT_TRUE(scope.toasts.empty());
  ASSERT_TRUE(ui.click_text("zebra", draw));
  ASSERT_THAT(studies(), SizeIs(2));
  const ChangedRun run = std::get<TrialStudy>(studies().back().question).run;
  EXPECT_EQ(run.of, ContrastSide::clean);
  ASSERT_THAT(run.changes, SizeIs(1));
  EXPECT_EQ(run.changes[0].site, (ValueSite{ValueKind::state, AttentionPart::encoder, 1}));
  EXPECT_THAT(run.changes[0].positions, ElementsAre(1));
  end(Trial{view.inspection->question, run, "parce qu'elle a tourn\u00E9", -3, 0.7});
  EXPECT_TRUE(ui.drew("parce qu'elle a tourn\u00E9"));
  EXPECT_TRUE(ui.drew("flipped, 70 %"));
  view.mode = CircuitMode::heads;
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("flipped, 70 %")) << "also above the heads";
  view.mode = CircuitMode::place;
  ui.frames(2, draw);
  ui.key(Key::backspace, draw);
  EXPECT_TRUE(view.put.empty());
  EXPECT_FALSE(view.trial);
  view.trial.emplace();
  ASSERT_TRUE(ui.click_text("corrupted (denoising)", draw));
  EXPECT_FALSE(view.trial) << "it was of the other direction";
}

TEST_F(CircuitPanel, ACellThatIsClickedIsPatchedInItsLayer) {
  end(fixture_result(snapshot->source_text));
  const auto label = ui.find_text("before layer 1");
  ASSERT_TRUE(label);
  ui.click({label->x + 100, label->y}, draw);
  ASSERT_THAT(studies(), SizeIs(2));
  const ChangedRun run = std::get<TrialStudy>(studies().back().question).run;
  ASSERT_THAT(run.changes, SizeIs(1));
  EXPECT_EQ(run.changes[0].site.layer, 0);
  EXPECT_EQ(view.layer, 0);
}

TEST_F(CircuitPanel, MenusOpenWhileTheContrastSentenceIsTyped) {
  end(fixture_result(snapshot->source_text));
  view.typing = true;
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("File", draw));
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("Quit"));
}

TEST_F(CircuitPanel, TheHeadsNameTheDecoy) {
  end(fixture_result(snapshot->source_text));
  ASSERT_TRUE(ui.click_text("Heads", draw));
  EXPECT_TRUE(ui.drew("L1 H2"));
  EXPECT_TRUE(ui.drew("Decoys, strong attention with little effect: L1 H1 attends from"));
  ASSERT_TRUE(ui.click_text("cross-attention", draw));
  EXPECT_EQ(view.rows.cols, 2);
  ui.frames(2, draw);
  EXPECT_TRUE(circuit_numbers(scope.views));
}

TEST_F(CircuitPanel, ThePictureCountsOverTheCorpus) {
  end(fixture_result(snapshot->source_text));
  ASSERT_TRUE(click_tab("Circuit"));
  ui.frames(3, draw);
  ASSERT_THAT(studies(), SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<CorpusCircuitStudy>(studies().back().question));
  EXPECT_TRUE(ui.drew("counting over the corpus"));
  for (const char* text : {"il | elle", "head 2", "patched: 2 of 2 flip, 93 %", "zero ablation: 0 of 2, 12 %",
                           "swap: 2 of 2, 50 %", "attention 0.97, effect 1 %"})
    EXPECT_TRUE(ui.drew(text)) << text;
  CorpusCircuit counted;
  counted.question = view.inspection->question;
  counted.tried = 58;
  counted.found = fixture_circuit(view.inspection->facts.words, 32);
  end(counted);
  EXPECT_TRUE(ui.drew("32 similar corpus pairs, both directions"));
  const auto tried = [&](const char* button) {
    EXPECT_TRUE(ui.click_text(button, draw)) << button;
    const ChangedRun run = std::get<TrialStudy>(studies().back().question).run;
    EXPECT_THAT(run.changes, SizeIs(1));
    EXPECT_EQ(run.changes[0].site, (ValueSite{ValueKind::heads, AttentionPart::encoder, 0}));
    EXPECT_THAT(run.changes[0].heads, ElementsAre(1));
    return run.changes[0];
  };
  EXPECT_EQ(tried("patched: 2").kind, ChangeKind::contrast);
  EXPECT_EQ(tried("zero ablation: 0").kind, ChangeKind::zero);
  const Change exchange = tried("swap: 2");
  EXPECT_EQ(exchange.kind, ChangeKind::exchange);
  EXPECT_THAT(exchange.one, ElementsAre(0));
  EXPECT_THAT(exchange.other, ElementsAre(2));
}

// The edge from "tired" up to "zebra", the label of whose head stands in its middle.
TEST_F(CircuitPanel, AnEdgeIsCutAndPointedElsewhere) {
  end(fixture_result(snapshot->source_text));
  ASSERT_TRUE(click_tab("Circuit"));
  ui.frames(3, draw);
  scope.commands.clear();
  receive(scope, {StudyEnded{scope.studies, nullptr}}, nullptr);
  const auto open = [&] {
    const auto label = ui.find_text("head 2");
    ASSERT_TRUE(label);
    ui.move(*label, draw);
    EXPECT_TRUE(ui.drew("click: remove the edge")) << "what a click does is said";
    EXPECT_FALSE(ui.drew("redirect to")) << "nothing was clicked yet";
    ui.click(*label, draw);
    ui.frames(2, draw);
  };
  open();
  for (const char* text : {"patched from the other sentence", "zero ablation", "redirect to"})
    EXPECT_TRUE(ui.drew(text)) << text;
  ASSERT_TRUE(ui.click_text("patched from the other sentence", draw));
  ASSERT_THAT(studies(), SizeIs(1));
  EXPECT_EQ(std::get<TrialStudy>(studies().back().question).run.changes[0].kind, ChangeKind::contrast);

  view.tried.clear();  // which names the head too
  ui.frames(2, draw);
  open();
  EXPECT_EQ(view.menu_edge, 0);
  EXPECT_EQ(view.menu_word, 2);
  ASSERT_TRUE(ui.click_text("redirect to", draw));
  ui.frames(3, draw);
  const ImRect menu = ImGui::GetCurrentContext()->OpenPopupStack.back().Window->Rect();
  std::optional<ImVec2> word;
  for (int nth = 0; const auto at = ui.find_text("zebra", nth); ++nth)
    if (menu.Contains(*at)) word = at;
  ASSERT_TRUE(word);
  ui.click(*word, draw);
  ui.frames(2, draw);
  const ChangedRun run = std::get<TrialStudy>(studies().back().question).run;
  EXPECT_EQ(run.changes[0].kind, ChangeKind::exchange);
  EXPECT_THAT(run.changes[0].one, ElementsAre(2));
  EXPECT_THAT(run.changes[0].other, ElementsAre(1));
}

TEST(WordsBetween, AreTwoOrNone) {
  EXPECT_EQ(words_between(""), std::vector<std::string>());
  EXPECT_EQ(words_between(" il,elle "), (std::vector<std::string>{"il", "elle"}));
  EXPECT_EQ(words_between("il elle"), (std::vector<std::string>{"il", "elle"}));
  EXPECT_EQ(words_between("il"), std::nullopt);
  EXPECT_EQ(words_between("il, elle, on"), std::nullopt);
}

TEST_F(CircuitPanel, AnyTwoWordsCanBeAskedFor) {
  end(fixture_result(snapshot->source_text));
  ASSERT_TRUE(ui.click_text("first divergence", draw));
  ui.type("la", draw);
  ui.key(Key::enter, draw);
  EXPECT_THAT(studies(), SizeIs(1));  // one word alone
  view.between = "la, le";
  ASSERT_TRUE(ui.click_text("la, le", draw));
  ui.key(Key::enter, draw);
  ASSERT_THAT(studies(), SizeIs(2));
  EXPECT_THAT(std::get<CircuitStudy>(studies().back().question).question.between, ElementsAre("la", "le"));
}

TEST_F(CircuitPanel, AnEmptyViewHasContrastSentencesToClick) {
  CircuitResult none;
  none.question = {snapshot->source_text, "because it is", {}};
  none.problem = "The sentences have 9 and 3 tokens; patching needs the same number of tokens.";
  none.offers = {"because it was wide", "because it was dark"};
  end(none);
  EXPECT_TRUE(ui.drew("patching needs the same number of tokens"));
  ASSERT_TRUE(ui.click_text("because it was dark", draw));
  ASSERT_THAT(studies(), SizeIs(2));
  EXPECT_EQ(std::get<CircuitStudy>(studies().back().question).question.corrupted, "because it was dark");
}

TEST_F(CircuitPanel, WithoutSuggestionsAnExampleCanBeClicked) {
  CircuitResult none;
  none.question = {snapshot->source_text, "", {}};
  none.problem = "There are no suggestions for this sentence.";
  none.example = {"the cat ran.", "the dog ran.", {}};
  end(none);
  ASSERT_TRUE(ui.click_text("the cat ran.", draw));
  ui.frames(2, draw);
  EXPECT_EQ(scope.layout.sentence, "the cat ran.");
}

TEST_F(CircuitPanel, TheHeadsMapHasTheFeedForwardsToo) {
  end(fixture_result(snapshot->source_text));
  ASSERT_TRUE(ui.click_text("Heads", draw));
  ui.frames(2, draw);
  ASSERT_EQ(view.rows.rows, 3);
  EXPECT_FLOAT_EQ(view.rows.at(2, 0), 0.0625F);
  EXPECT_FLOAT_EQ(view.whole[2], 0.125F);
  ASSERT_TRUE(ui.click_text("L1 feed-forward", draw));
  const ChangedRun run = std::get<TrialStudy>(studies().back().question).run;
  EXPECT_EQ(run.changes[0].site, (ValueSite{ValueKind::feed_forward, AttentionPart::encoder, 0}));
  EXPECT_THAT(run.changes[0].positions, SizeIs(4));
}

TEST_F(CircuitPanel, AnExchangeIsAskedForAndShown) {
  end(fixture_result(snapshot->source_text));
  ASSERT_TRUE(ui.click_text("Heads", draw));
  ASSERT_TRUE(ui.click_text("Swapped attention", draw));
  ui.frames(3, draw);
  ASSERT_TRUE(std::holds_alternative<SweepQuestion>(studies().back().question));
  const std::size_t asked = studies().size();
  const SweepQuestion question = std::get<SweepQuestion>(studies().back().question);
  EXPECT_THAT(question.one, ElementsAre(0));
  EXPECT_THAT(question.other, ElementsAre(1));
  EXPECT_TRUE(ui.drew("Patching one head after another"));
  end(SweepResult{
      question,
      "",
      {fixture_sweep(ContrastSide::clean, question, 0.3F), fixture_sweep(ContrastSide::corrupted, question, 0.6F)}});
  ASSERT_EQ(view.rows.rows, 2);  // heads alone have weights
  EXPECT_FLOAT_EQ(view.rows.at(0, 1), 0.3F);
  ui.frames(3, draw);
  EXPECT_THAT(studies(), SizeIs(asked));
  ASSERT_TRUE(ui.click_text("corrupted (denoising)", draw));
  EXPECT_FLOAT_EQ(view.rows.at(0, 1), 0.6F);
  EXPECT_TRUE(circuit_numbers(scope.views));
}

TEST_F(CircuitPanel, AlongAPathOnlyWhatGoesStraightCounts) {
  end(fixture_result(snapshot->source_text));
  ASSERT_TRUE(ui.click_text("Heads", draw));
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("all paths", draw));
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("direct path to decoder layer 1 cross-attention", draw));
  ui.frames(3, draw);
  ASSERT_TRUE(std::holds_alternative<SweepQuestion>(studies().back().question));
  const SweepQuestion question = std::get<SweepQuestion>(studies().back().question);
  EXPECT_EQ(question.end, (PathEnd{AttentionPart::cross, 0, {0}, {1}}));
  end(SweepResult{
      question,
      "",
      {fixture_sweep(ContrastSide::clean, question, 0.4F), fixture_sweep(ContrastSide::corrupted, question, 0.2F)}});
  EXPECT_TRUE(ui.drew("embedding"));
  EXPECT_EQ(row_name(view.row_places.front(), view.inspection->facts), "embedding");
  EXPECT_FLOAT_EQ(view.rows.at(0, 0), 0.4F);
  const std::size_t asked = studies().size();
  ASSERT_TRUE(ui.click_text("L1 H2", draw));  // what a path alone makes be written is not defined
  EXPECT_THAT(studies(), SizeIs(asked));
}

TEST_F(CircuitPanel, WhichHeadsMatterOverTheTraining) {
  end(fixture_result(snapshot->source_text));
  ASSERT_TRUE(ui.click_text("Head importance", draw));
  ui.frames(2, draw);
  receive(scope, {StudyEnded{studies().back().study, nullptr}}, nullptr);
  ASSERT_TRUE(ui.click_text("over training", draw));
  ui.frames(3, draw);
  ASSERT_TRUE(std::holds_alternative<HeadsHistoryQuestion>(studies().back().question));
  HeadsHistory history;
  for (const std::int64_t step : {100, 200, 300}) {
    HeadsResult inspection{.tokens = 700, .nll = 0.5, .heads = {}, .pruning = {}};
    for (int head = 0; head < 2; ++head)
      inspection.heads.push_back(
          {{AttentionPart::encoder, 0, head}, head == 0 ? static_cast<double>(step) / 1000 : 0, 0});
    inspection.pruning = {{2, 0.5}, {1, 0.5, {AttentionPart::encoder, 0, 1}}, {0, 0.9, {AttentionPart::encoder, 0, 0}}};
    history.points.push_back({step, inspection});
  }
  const std::size_t asked = studies().size();
  end(history);
  for (const char* text : {"encoder L1 H1", "700 held-out tokens, 3 recorded steps", "step 200"})
    EXPECT_TRUE(ui.drew(text)) << text;
  EXPECT_FLOAT_EQ(view.history.at(0, 2), 300);
  EXPECT_FLOAT_EQ(circuit_numbers(scope.views)->matrix.at(0, 1), 200);
  ui.frames(3, draw);
  EXPECT_THAT(studies(), SizeIs(asked));
  ASSERT_TRUE(ui.click_text("Recompute", draw));
  ui.frames(2, draw);
  EXPECT_THAT(studies(), SizeIs(asked + 1));
}

TEST_F(CircuitPanel, AHeadsOutputIsReplacedByWhatIsChosen) {
  CircuitResult inspection = fixture_result(snapshot->source_text);
  for (Sweep& sweep : inspection.sweeps)
    if (sweep.kind == ChangeKind::mean)
      for (Effect& effect : sweep.encoder_rows[0].effects) effect.share = 0.5F;
  end(inspection);
  ASSERT_TRUE(ui.click_text("Heads", draw));
  EXPECT_FLOAT_EQ(view.rows.at(1, 1), 0.75F);
  ASSERT_TRUE(ui.click_text("Mean ablation", draw));
  EXPECT_FLOAT_EQ(view.rows.at(1, 1), 0.5F);
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("L1 H2", draw));
  const ChangedRun run = std::get<TrialStudy>(studies().back().question).run;
  ASSERT_THAT(run.changes, SizeIs(1));
  EXPECT_EQ(run.changes[0].kind, ChangeKind::mean);
}

TEST_F(CircuitPanel, WhyThereIsAskedOfTheCircuitsHeadAndOfWhatIsChosen) {
  end(fixture_result(snapshot->source_text));
  ASSERT_TRUE(ui.click_text("Score decomposition", draw));
  ui.frames(2, draw);
  ASSERT_TRUE(std::holds_alternative<ScoreQuestion>(studies().back().question));
  ScoreSplit split{std::get<ScoreQuestion>(studies().back().question), "",           {"embedding", "L1 H1", "biases"},
                   {"embedding", "L1 H1", "biases", "distance"},       Matrix(3, 4), 10};
  EXPECT_EQ(split.question.place, (HeadPlace{AttentionPart::encoder, 0, 1}));
  EXPECT_EQ(split.question.from, 1);
  EXPECT_EQ(split.question.to, 2);
  EXPECT_EQ(split.question.other, -1);
  split.terms.at(1, 0) = 7.5F;
  split.terms.at(2, 3) = 2.5F;
  const std::size_t asked = studies().size();
  end(split);
  EXPECT_TRUE(ui.drew("= 10.00, the sum of all cells: L1 H1 × embedding 7.50 (75 %)"));
  EXPECT_TRUE(ui.drew("biases × distance 2.50 (25 %)"));
  EXPECT_THAT(studies(), SizeIs(asked));
  view.score_wanted->other = 0;
  ui.frames(3, draw);
  EXPECT_THAT(studies(), SizeIs(asked + 1));
  ASSERT_TRUE(circuit_numbers(scope.views));
  EXPECT_EQ(circuit_numbers(scope.views)->cols, split.key_parts);
}

TEST_F(CircuitPanel, WhichHeadsMatterIsMeasuredOnceARunAndBarredOnTheThumbnails) {
  end(fixture_result(snapshot->source_text));
  ASSERT_TRUE(ui.click_text("Head importance", draw));
  ui.frames(3, draw);
  ASSERT_TRUE(std::holds_alternative<HeadsQuestion>(studies().back().question));
  const std::size_t asked = studies().size();
  HeadsResult inspection{.tokens = 7375, .nll = 0.5, .heads = {}, .pruning = {}};
  for (int head = 0; head < 2; ++head)
    inspection.heads.push_back({{AttentionPart::encoder, 0, head}, head == 0 ? 0.25 : -0.0625, 1.0 - head});
  inspection.pruning = {
      {2, 0.5}, {1, 0.4375, {AttentionPart::encoder, 0, 1}}, {0, 0.9, {AttentionPart::encoder, 0, 0}}};
  end(inspection);
  ui.frames(3, draw);
  EXPECT_THAT(studies(), SizeIs(asked));
  EXPECT_TRUE(
      ui.drew("encoder L1 H1 matters most: without it the loss per token is 0.250 nats above 0.500. 1 of 2 heads"));
  EXPECT_TRUE(ui.drew("Rank correlation with the gradient-based estimate: 1.00 (Spearman)"));
  EXPECT_EQ(view.importance.at(0, 0), 250);
  EXPECT_EQ(circuit_numbers(scope.views)->matrix.at(1, 0), -0.0625F);
  EXPECT_THAT(scope.views.of<AttentionView>().importance, SizeIs(2));
}

TEST(Importance, OfStacksWithDifferentNumbersOfHeadsLeavesCellsBlank) {
  HeadsResult inspection;
  for (const HeadPlace& place : {HeadPlace{AttentionPart::encoder, 0, 0}, HeadPlace{AttentionPart::encoder, 0, 1},
                                 HeadPlace{AttentionPart::decoder, 0, 0}, HeadPlace{AttentionPart::cross, 0, 0}})
    inspection.heads.push_back({place, 0.001 * (1 + static_cast<double>(inspection.heads.size())), 0});
  inspection.pruning.resize(5);
  CircuitView view;
  take_circuit(view, inspection, 1, 1);
  ASSERT_EQ(view.importance.rows, 3);
  EXPECT_EQ(view.importance.at(0, 1), 2);
  EXPECT_EQ(view.importance.at(1, 0), 3);
  EXPECT_EQ(view.importance.at(2, 0), 4);
  EXPECT_TRUE(std::isnan(view.importance.at(1, 1)));
}

TEST(Circuit, AnotherQuestionLeavesNothingOfTheOneBefore) {
  CircuitView view;
  view.trial.emplace();
  view.counted.emplace();
  view.formation.emplace();
  view.score.emplace();
  view.score_wanted.emplace();
  view.swept.emplace();
  view.sweep_asked.emplace();
  view.put = {1};
  view.counting_asked = view.formation_asked = true;
  take_circuit(view, fixture_result("The cat slept."), 1, 1);
  ASSERT_TRUE(view.inspection);
  EXPECT_FALSE(view.trial || view.counted || view.formation || view.score || view.score_wanted || view.swept ||
               view.sweep_asked || view.counting_asked || view.formation_asked);
  EXPECT_TRUE(view.put.empty());
}

TEST(Agreement, IsTheRankCorrelation) {
  HeadsResult inspection;
  for (const auto& [exact, fast] : {std::pair(1.0, 10.0), std::pair(2.0, 30.0), std::pair(3.0, 20.0)})
    inspection.heads.push_back({{}, exact, fast});
  EXPECT_DOUBLE_EQ(agreement(inspection), 0.5);  // 1 − 6·2/(3·8)
  inspection.heads.resize(1);
  EXPECT_EQ(agreement(inspection), 0);
}

TEST_F(CircuitPanel, ARecurrentNetworkHasStatesAndOneAttention) {
  CircuitResult inspection = fixture_result(snapshot->source_text);
  inspection.facts.recurrent = true;
  std::erase_if(inspection.found.edges, [](const CircuitEdge& edge) { return edge.part != AttentionPart::cross; });
  inspection.found.decoys.clear();
  for (Sweep& sweep : inspection.sweeps) {
    sweep.encoder_heads = sweep.decoder_heads = sweep.encoder_feed_forward = {};
    sweep.encoder_rows.clear();
    sweep.decoder_rows.clear();
    sweep.cross_heads.rows = sweep.cross_heads.cols = 1;
    sweep.cross_heads.effects.resize(1);
    sweep.cross_rows.front().rows = 1;
    sweep.cross_rows.front().effects.resize(static_cast<std::size_t>(sweep.cross_rows.front().cols));
  }
  end(std::move(inspection));
  EXPECT_TRUE(ui.drew("Effect of patching the state after each word"));
  EXPECT_TRUE(ui.drew("decoder's states"));
  ASSERT_TRUE(ui.click_text("Heads", draw));
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("attention"));
  EXPECT_FALSE(ui.drew("cross-attention")) << "there is nothing to choose among";
  EXPECT_FALSE(ui.drew("all paths")) << "no path leads past the states";
  ASSERT_TRUE(click_tab("Circuit"));
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("cross-attention, head 1"));
  ASSERT_TRUE(ui.click_text("Score decomposition", draw));
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("No head carries the difference from another word"));
}

TEST_F(CircuitPanel, SaysWhyThereIsNone) {
  CircuitResult inspection = fixture_result(snapshot->source_text);
  inspection.problem = "No circuit found: the model gives the same output for both sentences.";
  end(inspection);
  EXPECT_TRUE(ui.drew("the model gives the same output for both"));
  for (const char* mode : {"Heads", "Circuit"}) {
    ASSERT_TRUE(click_tab(mode));
    ui.frames(2, draw);
    EXPECT_TRUE(ui.drew("the model gives the same output for both")) << mode;
  }
  EXPECT_THAT(studies(), SizeIs(1));
  EXPECT_FALSE(circuit_numbers(scope.views));
}

TEST_F(CircuitPanel, ASearchGivenUpCanBeBegunAgain) {
  receive(scope, {StudyEnded{studies().back().study, nullptr}}, nullptr);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("Not computed yet. Click Recompute to find the words and heads"));
  EXPECT_THAT(studies(), SizeIs(1));
  ASSERT_TRUE(ui.click_text("Recompute", draw));
  EXPECT_THAT(studies(), SizeIs(2));
}

TEST_F(CircuitPanel, WhenItFormedIsAskedOnceAndDrawn) {
  end(fixture_result(snapshot->source_text));
  ASSERT_TRUE(ui.click_text("Over training", draw));
  ui.frames(2, draw);
  ASSERT_THAT(studies(), SizeIs(2));
  const FormationStudy asked = std::get<FormationStudy>(studies().back().question);
  EXPECT_EQ(asked.question, view.inspection->question);
  EXPECT_EQ(asked.facts.prefix, view.inspection->facts.prefix);
  Formation formation{asked.question, asked.circuit, {}};
  formation.points = {{100, 0.2, {0.1, 0, 0.1}}, {200, 5, {4, 0.5, 2}}, {400, 8, {7.5, 6, 3}}};
  end(formation);
  EXPECT_TRUE(ui.drew("step 200: total difference"));
  EXPECT_TRUE(ui.drew("step 400: encoder layer 1"));
  EXPECT_TRUE(ui.drew("Effect, nats"));
  ui.frames(4, draw);
  EXPECT_THAT(studies(), SizeIs(2));
  const auto numbers = circuit_numbers(scope.views);
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->matrix.rows, 3);
  EXPECT_FLOAT_EQ(numbers->matrix.at(2, 2), 6);
}

TEST_F(CircuitPanel, WithoutRecordedWeightsNobodyKnowsWhenItFormed) {
  end(fixture_result(snapshot->source_text));
  ASSERT_TRUE(ui.click_text("Over training", draw));
  ui.frames(2, draw);
  Formation formation{view.inspection->question, view.inspection->found, {{400, 8, {7.5, 6, 3}}}};
  end(formation);
  EXPECT_TRUE(ui.drew("no earlier weights were recorded"));
}

TEST_F(CircuitPanel, AnAnswerIsTakenApartWithoutATwin) {
  end(fixture_result(snapshot->source_text));
  ASSERT_TRUE(ui.click_text("Attribution", draw));
  ui.frames(3, draw);
  ASSERT_THAT(studies(), SizeIs(2));
  const auto asked = std::get<AttributionQuestion>(studies().back().question);
  // The token at the first divergence of the two outputs.
  EXPECT_EQ(asked, (AttributionQuestion{snapshot->source_text, 1}));
  EXPECT_TRUE(ui.drew("Decomposing the output"));
  end(fixture_attribution(asked));
  // The head that adds most is the one whose weights are shown.
  for (const char* text : {"embedding 0.5", "feed-forward", "cross 2", "attention of cross layer 1 head 2", "rollout",
                           "changes log p(il) most, by -3.500"})
    EXPECT_TRUE(ui.drew(text)) << text;
  EXPECT_FALSE(ui.drew("Patch from"));
  ui.frames(3, draw);
  EXPECT_THAT(studies(), SizeIs(2));
  const auto numbers = circuit_numbers(scope.views);
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->rows.front(), "leave-one-out");
  EXPECT_FLOAT_EQ(numbers->matrix.at(0, 1), 3.5F);
  EXPECT_FLOAT_EQ(numbers->matrix.at(3, 1), 0.8F);

  ASSERT_TRUE(ui.click_text("voil\u00E0", draw));
  ui.frames(2, draw);
  ASSERT_THAT(studies(), SizeIs(3));
  EXPECT_EQ(std::get<AttributionQuestion>(studies().back().question).output, 0);
}

TEST_F(CircuitPanel, WhatHasNoPartsIsSaidAndThePiecesAreShown) {
  ASSERT_TRUE(ui.click_text("Attribution", draw));
  scope.commands.clear();
  receive(scope, {StudyEnded{1, nullptr}}, nullptr);
  ui.frames(3, draw);
  const auto asked = std::get<AttributionQuestion>(studies().back().question);
  EXPECT_EQ(asked, (AttributionQuestion{snapshot->source_text, -1})) << "no twin is known";
  AttributionResult inspection = fixture_attribution(asked);
  inspection.parts.clear();
  inspection.heads.clear();
  inspection.rollout.clear();
  inspection.parts_problem = "A recurrent network has no residual stream.";
  end(inspection);
  EXPECT_TRUE(ui.drew("no residual stream"));
  EXPECT_TRUE(ui.drew("gradient \u00D7 input"));
  EXPECT_FALSE(ui.drew("rollout"));
}

TEST(FormedBy, IsTheStepFromWhichOnHalfIsKept) {
  EXPECT_EQ(formed_by({{1, 2, 3, 4}, {0, 3, 1, 4}}), 4);
  EXPECT_EQ(formed_by({{1, 2, 3, 4}, {0, 1, 2, 4}}), 3);
  EXPECT_EQ(formed_by({{1, 2}, {5, 4}}), 1);
  EXPECT_EQ(formed_by({{1, 2}, {5, 0.1}}), std::nullopt);
}

}  // namespace
}  // namespace attnscope
