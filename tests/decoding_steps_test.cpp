// The decoding workspace step by step: what a step chose from, what is found out about it, and steering.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/sampling.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/decoding/candidates.h"
#include "workspaces/decoding/controls.h"
#include "workspaces/decoding/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int vocab_size = 50;

std::vector<float> made_logits() {
  std::vector<float> logits;
  for (int id = 0; id < vocab_size; ++id) logits.push_back(static_cast<float>(4 * std::sin(id * 1.7) + 0.01 * id));
  return logits;
}

// Like a probe's: ten candidates and the forced token.
DecodingStep step_of(const std::vector<float>& logits, const SamplingOptions& sampling, int given = -1) {
  const NextProbabilities plain = next_probabilities(logits, {});
  const NextProbabilities next = next_probabilities(logits, sampling);
  std::vector<int> ids(logits.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int>(i);
  std::ranges::stable_sort(ids, std::greater(), [&](int id) { return logits[static_cast<std::size_t>(id)]; });
  ids.resize(10);
  if (given >= 0 && std::ranges::find(ids, given) == ids.end()) ids.push_back(given);
  DecodingStep step;
  for (const int id : ids) {
    const auto i = static_cast<std::size_t>(id);
    step.candidates.push_back({{id, "▁p" + std::to_string(id)},
                               logits[i],
                               static_cast<float>(plain.before[i]),
                               static_cast<float>(next.before[i]),
                               static_cast<float>(next.after[i])});
  }
  if (given >= 0) step.chosen = static_cast<int>(std::ranges::find(ids, given) - ids.begin());
  step.entropy = 1;
  return step;
}

// The test's font lacks the sign with which pieces begin.
std::string bare(const Token& token) {
  return token.text.substr(token.text.find('p'));
}

std::shared_ptr<const Decodings> made_decodings(const Snapshot& snapshot) {
  auto made = std::make_shared<Decodings>();
  made->ranks = {1, 2, 3, 5, 10, 20, 50, 1893};
  const std::size_t steps = snapshot.target_out.size();
  made->ranked.assign(steps, {0.7F, 0.1F, 0.05F, 0.02F, 0.01F, 1e-3F, 1e-4F, 1e-7F});
  if (snapshot.model.is_recurrent()) return made;
  for (int layer = 0; layer < 3; ++layer) {
    auto& cells = made->lens.emplace_back(LensRow{layer, {}, {}}).cells;
    for (std::size_t step = 0; step < steps; ++step) {
      const float p = 0.2F + 0.3F * static_cast<float>(layer);
      cells.push_back({{{{1, "▁g" + std::to_string(layer)}, p}, {{2, "▁h"}, p / 2}, {{3, "▁i"}, p / 4}}, p, 1 + layer});
    }
  }
  return made;
}

class DecodingSteps : public testing::Test {
 protected:
  DecodingSteps() {
    scope.layout.workspace = find_workspace("decoding");
    receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}}, nullptr);
    show(fixture_snapshot({5, 6, 2, 4}));
  }

  void show(std::shared_ptr<Snapshot> snapshot) {
    snapshot->request = ++scope.asked.request;
    receive(scope, {}, std::move(snapshot));
    ui.frames(3, draw);
    scope.commands.clear();
  }

  const Snapshot& snapshot() const { return *scope.a.complete.snapshot; }
  DecodingView& view() { return decoding; }

  // The newest one posted; a default one when there is none.
  Probe asked() const {
    Probe newest;
    for (const Command& command : scope.commands)
      if (const auto* probe = std::get_if<Probe>(&command)) newest = *probe;
    return newest;
  }

  std::vector<int> written(int from, int to) const {
    std::vector<int> ids;
    for (int i = from; i < to; ++i) ids.push_back(snapshot().target_out[static_cast<std::size_t>(i)].id);
    return ids;
  }

  void go(int step) {
    go_to(view(), snapshot(), step);
    ui.frames(2, draw);
  }

  int count(std::string_view text) const {
    int found = 0;
    while (ui.find_text(text, found)) ++found;
    return found;
  }

  AppState scope;
  DecodingView& decoding = scope.views.of<DecodingView>();
  UiHarness ui{{1600, 1000}};
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

// ---- a narrow window

TEST(NarrowDecoding, TheFieldsStandBeneathEachOtherWhereOneLineHasNoRoom) {
  UiHarness ui{{560, 300}, ThemeName::dark, 2};
  DecodingView view;
  std::string reference;
  const auto snapshot = fixture_snapshot({5, 6, 2, 4});
  ui.frames(2, ui.in_panel([&] { draw_beginning_and_reference(*snapshot, view, reference, ui.skin); }));
  const auto button = ui.find_text("Clear prefix");
  const auto label = ui.find_text("Reference");
  ASSERT_TRUE(button && label);
  EXPECT_GT(label->y, button->y + 20);
}

TEST(NarrowDecoding, TitlesOfColumnsEndInDotsWhereTheyHaveNoRoom) {
  UiHarness ui{{150, 400}};
  DecodingView view;
  const auto snapshot = fixture_snapshot({5, 6, 2, 4});
  go_to(view, *snapshot, 0);
  ui.frames(2, ui.in_panel([&] { draw_candidates(*snapshot, view, std::nullopt, ui.skin); }));
  // Room for two letters and the dots (the harness reads them as "?"); cut off, it would be more letters of "softmax".
  EXPECT_TRUE(ui.drew("so?")) << ui.drawn_text();
  EXPECT_FALSE(ui.drew("sof"));
}

// ---- the candidates

TEST_F(DecodingSteps, BarsSumToOneBeforeAndAfterTheCut) {
  for (const double temperature : {0.0, 0.3, 1.0, 7.0}) {
    for (const std::int64_t top_k : {0, 1, 3, 10, 25, 1000}) {
      for (const double top_p : {1.0, 0.7, 1e-9}) {
        const SamplingOptions sampling{temperature, top_k, top_p, 1};
        for (const int given : {-1, 7}) {
          const DecodingStep step = step_of(made_logits(), sampling, given);
          const RestOfVocabulary rest = rest_of(step);
          double plain = rest.probability;
          double tempered = rest.tempered;
          double kept = rest.kept;
          for (const Candidate& candidate : step.candidates) {
            plain += static_cast<double>(candidate.probability);
            tempered += static_cast<double>(candidate.tempered);
            kept += static_cast<double>(candidate.kept);
          }
          EXPECT_NEAR(plain, 1, 1e-6);
          EXPECT_NEAR(tempered, 1, 1e-6);
          EXPECT_NEAR(kept, 1, 1e-6) << temperature << " " << top_k << " " << top_p;
        }
      }
    }
  }
}

TEST_F(DecodingSteps, WhatCutACandidateIsNamed) {
  const auto cut = [](SamplingOptions sampling, int candidate, int given = -1) {
    return cut_by(step_of(made_logits(), sampling, given), candidate, sampling);
  };
  EXPECT_EQ(cut({1, 0, 1, 1}, 9), "");
  EXPECT_EQ(cut({1, 3, 1, 1}, 2), "");
  EXPECT_EQ(cut({1, 3, 1, 1}, 3), "top-k");
  EXPECT_EQ(cut({1, 0, 1e-9, 1}, 0), "");
  EXPECT_EQ(cut({1, 0, 1e-9, 1}, 1), "top-p");
  EXPECT_EQ(cut({1, 5, 1e-9, 1}, 4), "top-p");
  EXPECT_EQ(cut({1, 5, 1e-9, 1}, 5), "top-k");
  EXPECT_EQ(cut({0, 0, 1, 1}, 1), "");  // nothing was left to cut
  // A forced token is listed last, whatever its rank.
  EXPECT_EQ(cut({1, 3, 1, 1}, 10, 7), "top-k");
  EXPECT_EQ(cut({1, 20, 1e-9, 1}, 10, 7), "top-k or top-p");
  EXPECT_EQ(cut({1, 0, 0.5, 1}, 10, 7), "top-p");
}

TEST_F(DecodingSteps, WhatIsCutAwayStaysVisible) {
  view().options.sampling.top_k = 3;
  auto cut = fixture_snapshot({5, 6, 2, 4});
  for (DecodingStep& step : cut->decoding) step = step_of(made_logits(), view().options.sampling);
  show(cut);
  for (const Candidate& candidate : snapshot().decoding[0].candidates) EXPECT_TRUE(ui.drew(bare(candidate.token)));
  EXPECT_EQ(count("removed"), 7);
  const auto at = ui.find_text(bare(snapshot().decoding[0].candidates[5].token));
  ASSERT_TRUE(at);
  ui.move(*at, draw);
  EXPECT_TRUE(ui.drew("removed by top-k"));
  EXPECT_TRUE(ui.drew("exp(logit)"));
}

TEST_F(DecodingSteps, TheRestOfTheVocabularyIsCountedOnceItIsKnown) {
  EXPECT_TRUE(ui.drew("others"));
  auto whole = fixture_snapshot({5, 6, 2, 4});
  whole->decodings = made_decodings(*whole);
  show(whole);
  EXPECT_TRUE(ui.drew("1883 others"));
  EXPECT_TRUE(ui.drew("sum1.0001.0001.000"));
}

TEST_F(DecodingSteps, ADivergedModelIsDrawnToo) {
  auto diverged = fixture_snapshot({5, 6, 2, 4});
  for (DecodingStep& step : diverged->decoding) {
    for (Candidate& candidate : step.candidates) candidate = {candidate.token, std::nanf(""), std::nanf(""), 0, 0};
    step.entropy = 0;
  }
  diverged->decodings = made_decodings(*diverged);
  show(diverged);
  EXPECT_TRUE(ui.drew("nan"));
}

// ---- steering

TEST_F(DecodingSteps, AClickOnACandidateAsksForExactlyThatPrefix) {
  go(3);
  ASSERT_TRUE(ui.click_text("mot4", draw));
  std::vector<int> expected = written(0, 3);
  expected.push_back(snapshot().decoding[3].candidates[4].token.id);
  EXPECT_EQ(view().prefix_ids, expected);
  EXPECT_EQ(asked().prefix_ids, expected);
  EXPECT_EQ(asked().prefix, "");
  EXPECT_EQ(view().time_step, 3);
}

TEST_F(DecodingSteps, ForcingTakesThePlaceOfWhatWasTyped) {
  view().prefix = "Le";
  go(1);
  ASSERT_TRUE(ui.click_text("mot2", draw));
  EXPECT_EQ(asked().prefix, "");
  EXPECT_THAT(asked().prefix_ids,
              ElementsAre(snapshot().target_out[0].id, snapshot().decoding[1].candidates[2].token.id));
}

TEST_F(DecodingSteps, CandidatesAreForcedWithTheKeyboard) {
  go(2);
  ui.key(Key::down, draw);
  ui.key(Key::down, draw);
  ui.key(Key::down, draw);
  ui.key(Key::up, draw);
  EXPECT_EQ(view().candidate, 1);
  ui.key(Key::enter, draw);
  EXPECT_EQ(asked().prefix_ids.back(), snapshot().decoding[2].candidates[1].token.id);
  EXPECT_EQ(asked().prefix_ids.size(), 3u);
  EXPECT_FALSE(view().playing);
  EXPECT_EQ(view().candidate, -1);
  ui.key(Key::up, draw);
  EXPECT_EQ(view().candidate, -1);
  ui.key(Key::enter, draw);  // nothing is marked: plays
  EXPECT_TRUE(view().playing);
}

TEST_F(DecodingSteps, RewindingKeepsWhatStandsBefore) {
  view().prefix_ids = {1, 2, 3, 4};
  go(2);
  ASSERT_TRUE(ui.click_text("Rewind here", draw));
  EXPECT_EQ(asked().prefix_ids, written(0, 2));
  go(1);
  ui.key(Key::backspace, draw);
  EXPECT_EQ(asked().prefix_ids, written(0, 1));
  ui.key(Key::del, draw);
  EXPECT_THAT(asked().prefix_ids, IsEmpty());
}

TEST_F(DecodingSteps, LettingGoFreesTheOutput) {
  view().prefix = "Le";
  view().prefix_ids = {11};
  ui.frames(2, draw);
  ASSERT_EQ(asked().prefix, "Le");
  ASSERT_TRUE(ui.click_text("Clear prefix", draw));
  EXPECT_EQ(asked().prefix, "");
  EXPECT_THAT(asked().prefix_ids, IsEmpty());
}

TEST_F(DecodingSteps, ThePrefixIsTypedWhateverItIs) {
  view().prefix_ids = {11, 12};
  auto steered = fixture_snapshot({5, 6, 2, 4});
  steered->forced = steered->prefix = 2;
  show(steered);
  const auto label = ui.find_text("Forced prefix");
  ASSERT_TRUE(label);
  std::optional<ImVec2> field;  // says what was chosen
  for (int i = 0; i < count("out1"); ++i) {
    if (std::abs(ui.find_text("out1", i)->y - label->y) < 4) field = ui.find_text("out1", i);
  }
  ASSERT_TRUE(field);
  ui.click(*field, draw);
  const std::string hostile = "</s>\t%s%n ÿ\u200B 中文 " + std::string(3000, 'x');
  ui.type(hostile, draw);
  EXPECT_THAT(asked().prefix, HasSubstr("</s>"));
  EXPECT_THAT(asked().prefix, HasSubstr("中文"));
  EXPECT_GT(asked().prefix.size(), 3000u);
  EXPECT_THAT(asked().prefix_ids, IsEmpty());
  EXPECT_TRUE(ui.drew("Clear prefix"));
}

TEST_F(DecodingSteps, GivenPiecesAreSaidToBeGiven) {
  auto steered = fixture_snapshot({5, 6, 2, 4});
  steered->forced = steered->prefix = 2;
  show(steered);
  go(1);
  EXPECT_TRUE(ui.drew("Forced"));
  EXPECT_TRUE(ui.drew("underlined: forced"));
  go(2);
  EXPECT_TRUE(ui.drew("Generates"));
}

TEST_F(DecodingSteps, APromptCannotBeSteeredButWhatFollowsItCan) {
  ModelConfig model;
  model.architecture = "decoder-only";
  show(snapshot_of_model(model));
  ASSERT_EQ(snapshot().first_output(), 2);
  go(1);
  ASSERT_TRUE(ui.click_text("mot3", draw));
  EXPECT_THAT(view().prefix_ids, IsEmpty());
  go(2);
  ASSERT_TRUE(ui.click_text("mot3", draw));
  EXPECT_THAT(asked().prefix_ids, ElementsAre(snapshot().decoding[2].candidates[3].token.id)) << "the first output";
  go(4);
  ASSERT_TRUE(ui.click_text("mot3", draw));
  std::vector<int> expected = written(2, 4);
  expected.push_back(snapshot().decoding[4].candidates[3].token.id);
  EXPECT_EQ(asked().prefix_ids, expected);
}

TEST_F(DecodingSteps, TheLimitIsSaid) {
  EXPECT_FALSE(ui.drew("stopped at the limit"));
  auto stopped = fixture_snapshot({5, 6, 2, 4});
  stopped->stopped_at_limit = true;
  show(stopped);
  EXPECT_TRUE(ui.drew("stopped at the limit of 6 tokens"));
}

// ---- the options

class DecodingOptionsPopup : public DecodingSteps {
 protected:
  void SetUp() override { ASSERT_TRUE(ui.click_text("beam 4", draw)); }

  // Drags that slider to its end (1: the right one, −1: the left one).
  void drag(const char* label, float end) {
    ui.frames(2, draw);
    ASSERT_GT(count(label), 0) << label;
    const auto at = ui.find_text(label, count(label) - 1);  // the popup is drawn last
    const float left = at->x - text_size(ui.skin.fonts.ui, label).x / 2;
    const ImVec2 slider(left + 120 + 110, at->y);
    ui.drag(slider, {slider.x + end * 600, slider.y}, draw);
    const DecodingOptions& options = view().options;
    EXPECT_NO_THROW(check(options.sampling)) << label;
    EXPECT_TRUE(options.beam >= 1 && options.beam <= max_probe_beam);
    EXPECT_TRUE(options.num_samples >= 0 && options.num_samples <= max_probe_samples);
    EXPECT_TRUE(options.length_penalty >= 0);
    EXPECT_EQ(asked().options, options);
  }
};

TEST_F(DecodingOptionsPopup, EverySliderAsksForALookAndStaysInItsLimits) {
  drag("temperature T", -1);
  EXPECT_EQ(view().options.sampling.temperature, 0);
  drag("top-k", 1);
  EXPECT_EQ(view().options.sampling.top_k, 100);
  drag("top-p", -1);
  EXPECT_GT(view().options.sampling.top_p, 0);
  EXPECT_LT(view().options.sampling.top_p, 0.01);
  drag("seed", 1);
  EXPECT_GT(view().options.sampling.seed, 1000);
  drag("samples", 1);
  EXPECT_EQ(view().options.num_samples, max_probe_samples);
  drag("samples", -1);
  EXPECT_EQ(view().options.num_samples, 0);
  drag("beam", 1);
  drag("length penalty", -1);
  EXPECT_EQ(view().options.length_penalty, 0);
  ASSERT_TRUE(ui.click_text("Defaults", draw));
  EXPECT_EQ(view().options, DecodingOptions());
  drag("top-k", -1);
  EXPECT_EQ(view().options.sampling.top_k, 0);
}

TEST_F(DecodingOptionsPopup, TheButtonNamesWhatIsInForce) {
  view().options.sampling = {0.5, 7, 0.9, 1};
  view().options.beam = 2;
  ui.frames(2, draw);
  for (const char* text : {"T 0.5", "k 7", "p 0.9", "beam 2", "0.6"}) EXPECT_TRUE(ui.drew(text)) << text;
}

// ---- the reference

TEST_F(DecodingSteps, TheReferenceComesFromTheCorpusAndCanBeTyped) {
  EXPECT_TRUE(ui.drew("optional"));
  set_sentence(scope, "The cat sleeps.");
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Le chat dort."));
  EXPECT_EQ(asked().reference, "Le chat dort.");
  set_sentence(scope, "Nothing of the corpus");
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("optional", draw));
  ui.type("Rien", draw);
  EXPECT_EQ(asked().reference, "Rien");
}

TEST_F(DecodingSteps, TheReferencesRankIsShown) {
  auto known = fixture_snapshot({5, 6, 2, 4});
  known->gold = {{{9, "▁Rien"}, 0.0123F, 4, {11, "▁out1"}}};
  known->decoding[0].reference = known->gold[0];
  known->decodings = made_decodings(*known);
  show(known);
  EXPECT_TRUE(ui.drew("rank 4, p = 0.0123"));
  EXPECT_EQ(count("Rien rank 4"), 2);
  go(1);
  EXPECT_TRUE(ui.drew("reference: no token at this position"));
}

// ---- what comes later

TEST_F(DecodingSteps, RanksOfWhatWasWritten) {
  auto made = fixture_snapshot({5, 6, 2, 4});
  const auto decodings = made_decodings(*made);
  EXPECT_EQ(rank_of_written(*made, 0, *decodings).rank, 3);  // the last layer knows
  ModelConfig model;
  model.architecture = "recurrent";
  auto recurrent = snapshot_of_model(model);
  const auto without_lens = made_decodings(*recurrent);
  EXPECT_EQ(rank_of_written(*recurrent, 0, *without_lens).rank, 1);
  DecodingStep& step = recurrent->decoding[0];
  step.candidates.push_back({{999, "▁rare"}, -3, 0.0005F, 0.0005F, 0.0005F});
  step.chosen = 10;
  const RankMark rare = rank_of_written(*recurrent, 0, *without_lens);
  EXPECT_EQ(rare.rank, 20);
  EXPECT_FALSE(rare.exact);
}

TEST_F(DecodingSteps, TheRankPlotWaitsForItsNumbers) {
  EXPECT_TRUE(ui.drew("probability by rank"));
  EXPECT_FALSE(ui.drew("rank 3"));
  auto whole = fixture_snapshot({5, 6, 2, 4});
  whole->decodings = made_decodings(*whole);
  show(whole);
  EXPECT_TRUE(ui.drew("out1 rank 3"));
}

TEST_F(DecodingSteps, WhatIsKnownStaysUntilTheNextLookKnowsIt) {
  auto whole = fixture_snapshot({5, 6, 2, 4});
  whole->decodings = made_decodings(*whole);
  show(whole);
  auto newer = fixture_snapshot({5, 6, 2, 4});
  newer->step = whole->step + 10;
  show(newer);
  EXPECT_TRUE(ui.drew("out1 rank 3"));
  auto other = fixture_snapshot({5, 7, 2, 4});
  other->step = newer->step;
  show(other);
  EXPECT_FALSE(ui.drew("out1 rank 3"));
}

TEST_F(DecodingSteps, TheLensShowsEveryLayersGuess) {
  ASSERT_TRUE(ui.click_text("Logit lens", draw));
  EXPECT_EQ(view().picture, StepPicture::lens);
  EXPECT_FALSE(ui.drew("layer 3"));
  auto whole = fixture_snapshot({5, 6, 2, 4});
  whole->decodings = made_decodings(*whole);
  show(whole);
  EXPECT_TRUE(ui.drew("layer 3"));
  EXPECT_EQ(count("g2"), 6 + 1);  // a column a step, and once more for the present one
  EXPECT_TRUE(ui.drew("rank 2"));
  const auto third = ui.find_text("g0", 3);
  ASSERT_TRUE(third);
  ui.move(*third, draw);
  EXPECT_TRUE(ui.drew("step 4, after layer 1"));
  ui.click(*third, draw);
  EXPECT_EQ(view().time_step, 3);
}

TEST_F(DecodingSteps, TheTunedLensIsFittedWhenItIsChosen) {
  const auto started = [&] {
    const StartStudy* newest = nullptr;
    for (const Command& command : scope.commands)
      if (const auto* study = std::get_if<StartStudy>(&command)) newest = study;
    return newest;
  };
  auto whole = fixture_snapshot({5, 6, 2, 4});
  auto decodings = std::make_shared<Decodings>(*made_decodings(*whole));
  whole->decodings = decodings;
  view().picture = StepPicture::lens;
  show(whole);
  EXPECT_EQ(started(), nullptr);
  ASSERT_TRUE(ui.click_text("tuned lens", draw));
  ui.frames(2, draw);
  ui.move({2, 2}, draw);
  EXPECT_TRUE(ui.filled(*ui.find_text("tuned lens"), ui.skin.theme.raised)) << "it is chosen";
  EXPECT_FALSE(ui.filled(*ui.find_text("logit lens"), ui.skin.theme.raised));
  ASSERT_NE(started(), nullptr);
  EXPECT_TRUE(std::holds_alternative<TunedLensQuestion>(started()->question));
  EXPECT_TRUE(ui.drew("Fitting the tuned lens"));
  EXPECT_FALSE(scope.asked.tuned_lens);
  const TunedLensResult fitted{.logit_kl = {3, 2, 0}, .tuned_kl = {0.5, 0.25, 0}};
  receive(scope,
          {StudyEnded{started()->study, std::make_shared<const StudyResult>(StudyResult{scope.a.run.run, 20, fitted})}},
          nullptr);
  ui.frames(3, draw);
  EXPECT_TRUE(scope.asked.tuned_lens);
  EXPECT_FALSE(ui.drew("layer 1 3.00")) << "the logit lens is still drawn";
  auto tuned = std::make_shared<Snapshot>(*whole);
  decodings = std::make_shared<Decodings>(*decodings);
  decodings->lens_is_tuned = true;
  tuned->decodings = decodings;
  show(tuned);
  EXPECT_TRUE(ui.drew("fitted at step 20"));
  EXPECT_TRUE(ui.drew("layer 1 3.00"));
  EXPECT_EQ(started(), nullptr) << "only once per run";
  ASSERT_TRUE(ui.click_text("logit lens", draw));
  ui.frames(2, draw);
  EXPECT_FALSE(scope.asked.tuned_lens);
}

TEST_F(DecodingSteps, ARecurrentModelSaysWhyItHasNoLens) {
  ModelConfig model;
  model.architecture = "recurrent";
  auto recurrent = snapshot_of_model(model);
  recurrent->decodings = made_decodings(*recurrent);
  show(recurrent);
  ASSERT_TRUE(ui.click_text("Logit lens", draw));
  EXPECT_TRUE(ui.drew("The logit lens needs a stack of layers"));
}

TEST_F(DecodingSteps, ADecodingsLensOfAnotherLengthIsNotDrawn) {
  view().picture = StepPicture::lens;
  auto whole = fixture_snapshot({5, 6, 2, 4});
  whole->decodings = made_decodings(*fixture_snapshot({5, 4, 2, 4}));
  show(whole);
  go(5);
  EXPECT_FALSE(ui.drew("layer 3"));
}

// ---- sizes

TEST_F(DecodingSteps, EveryPictureFitsEveryModelAndWindow) {
  for (const ImVec2 size : {ImVec2(320, 240), ImVec2(1280, 720), ImVec2(4000, 3000)}) {
    ui.io().DisplaySize = size;
    for (const ModelConfig& model : fixture_models()) {
      auto made = snapshot_of_model(model);
      made->decodings = made_decodings(*made);
      show(made);
      for (const auto picture : {StepPicture::heads, StepPicture::lens, StepPicture::mask, StepPicture::branches}) {
        view().picture = picture;
        go(0);
        go(5);
        EXPECT_GT(ui.vertices(), 100);
      }
    }
  }
}

TEST_F(DecodingSteps, LongOutputsAndManyLayersAreDrawn) {
  auto large = fixture_snapshot({128, 128, 12, 16});
  large->decodings = made_decodings(*large);
  show(large);
  for (const auto picture : {StepPicture::heads, StepPicture::lens, StepPicture::mask}) {
    view().picture = picture;
    go(127);
    EXPECT_TRUE(ui.drew("step 128 of 128"));
  }
}

}  // namespace
}  // namespace attnscope
