// All outputs of a sentence side by side, and teacher forcing beside free running.
#include <gtest/gtest.h>

#include <cmath>

#include "base/numbers.h"
#include "decoding_panel.h"

namespace attnscope {
namespace {

class Readings : public DecodingPanel {
 protected:
  Readings() : DecodingPanel(DecodingMode::readings) { ui.io().DisplaySize = ImVec2(1600, 1200); }
};

TEST_F(Readings, HaveARowEachInTheOrderOfTheirMethods) {
  show({5, 3, 2});
  float last = 0;
  for (const char* name : {"greedy", "beam 1", "beam 2", "beam 3", "sample 1", "sample 2"}) {
    const auto at = ui.find_text(name);
    ASSERT_TRUE(at) << name;
    EXPECT_GT(at->y, last) << name;
    last = at->y;
  }
  EXPECT_TRUE(ui.drew("drawn1"));
  EXPECT_FALSE(ui.drew("BLEU"));
}

TEST_F(Readings, AClickLooksAtOneAndAButtonStepsThroughIt) {
  show({5, 3, 2});
  click("beam 2");
  std::vector<int> ids;
  for (const Token& token : decodings().readings[2].tokens) ids.push_back(token.id);
  EXPECT_EQ(scope.asked.hypothesis, ids);
  click("drawn1");
  EXPECT_EQ(decoding.hypothesis.front(), 901);
  click("Step through");
  EXPECT_EQ(decoding.mode, DecodingMode::steps);
  EXPECT_EQ(decoding.prefix_ids, decodings().hypothesis.ids);
}

TEST_F(Readings, AreSortedByWhatIsInAColumn) {
  show({5, 3, 2});
  const auto y = [&](const char* name) { return ui.find_text(name)->y; };
  click("score");  // best first
  EXPECT_LT(y("beam 1"), y("beam 3"));
  click("score");  // worst first
  ui.frames(2, draw);
  EXPECT_GT(y("beam 1"), y("beam 3"));
  click("score");  // as they came
  ui.frames(2, draw);
  EXPECT_LT(y("greedy"), y("beam 1"));
  EXPECT_LT(y("beam 1"), y("beam 3"));
}

TEST_F(Readings, MarkTheBestBleu) {
  auto snapshot = fixture_snapshot({4, 5, 2, 2});
  auto decodings = fixture_decodings({5, 3, 2}, snapshot->source);
  for (Reading& reading : decodings->readings) reading.bleu = reading.method == Method::sample ? 61.25 : 12.5;
  decodings->readings.back().bleu = 0;
  snapshot->decodings = decodings;
  show(snapshot);
  ASSERT_TRUE(ui.drew("61.2"));
  EXPECT_TRUE(ui.find_text("best", 0));
  // In the row of sample 1, under its number.
  EXPECT_NEAR(ui.find_text("61.2")->x, ui.find_text("best", 0)->x, 40);
}

TEST_F(Readings, AProbabilityIsALineBelowItsToken) {
  show({5, 3, 0});
  ui.move({2, 2}, draw);
  const auto row = ui.find_text("greedy");
  std::optional<ImVec2> token;
  for (int nth = 0; const auto at = ui.find_text("zq0", nth); ++nth)
    if (row && !token && std::abs(at->y - row->y) < 8) token = at;
  ASSERT_TRUE(token);
  const Color32 color = map_color(ColorMap::viridis, static_cast<float>(std::exp(-0.1)));
  const auto drawn = [&](float below) { return ui.filled({token->x, token->y + below}, color); };
  EXPECT_FALSE(drawn(0));
  EXPECT_TRUE(ui.filled(*token, ui.skin.theme.raised));
  bool line = false;
  for (float below = 6; below < 16; ++below) line |= drawn(below);
  EXPECT_TRUE(line);
}

TEST_F(Readings, TellTheArithmeticOfAScoreAndWhatWasCut) {
  show({5, 3, 0, false});
  EXPECT_TRUE(ui.drew("stopped at the limit of 5 tokens"));
  const auto heading = ui.find_text("score");
  const auto row = ui.find_text("beam 1");
  ASSERT_TRUE(heading && row);
  ui.move(ImVec2(heading->x, row->y), draw);
  ui.frames(40, draw);
  EXPECT_TRUE(ui.drew("length penalty ((5 + 5) / 6)^0.6"));
}

TEST_F(Readings, FollowTheNextSnapshot) {
  show({5, 3, 2});
  EXPECT_TRUE(ui.drew("zq4") || ui.drew("zq3"));
  show({3, 1, 0});
  EXPECT_FALSE(ui.drew("beam 2"));
  EXPECT_EQ(decoding.readings.differing.size(), decodings().readings.size());
}

TEST_F(Readings, TakeManyAndLongOnesInWindowsOfEverySize) {
  for (const ImVec2 size : {ImVec2(320, 240), ImVec2(1280, 720)}) {
    ui.io().DisplaySize = size;
    show({100, 16, 16, false});
    EXPECT_GT(ui.vertices(), 100);
  }
}

TEST_F(Readings, OfALanguageModelAndOfOneWithoutAttention) {
  for (const ModelConfig& model : fixture_models()) {
    if (model.is_masked_lm()) continue;  // generates nothing
    auto snapshot = snapshot_of_model(model);
    auto decodings = fixture_decodings({5, 2, 1, !model.is_language_model()}, snapshot->source);
    if (snapshot->cross.empty() && snapshot->decoder.empty()) decodings->hypothesis.maps.clear();
    snapshot->decodings = decodings;
    show(snapshot);
    EXPECT_TRUE(ui.drew("beam 2"));
  }
}

// ---- teacher forcing

class Forcing : public DecodingPanel {
 protected:
  Forcing() : DecodingPanel(DecodingMode::forcing) {}

  static void add_gold(Snapshot& snapshot, const Token& token, float probability) {
    GoldStep& step = snapshot.gold.emplace_back();
    step.token = step.best = token;
    step.probability = probability;
    step.rank = probability < 0.5F ? 4 : 1;
  }

  // out1 out2 out3 … are written; the reference has another piece at `at`.
  std::shared_ptr<Snapshot> with_gold(int at) {
    auto snapshot = fixture_snapshot({4, 6, 2, 2});
    for (int i = 0; i < 6; ++i) {
      Token token = snapshot->target_out[static_cast<std::size_t>(i)];
      if (i == at) token = {777, "▁other"};
      add_gold(*snapshot, token, i == at ? 0.125F : 0.5F);
    }
    return snapshot;
  }
};

TEST_F(Forcing, SaysHowToGiveAReference) {
  show(fixture_snapshot({4, 6, 2, 2}));
  EXPECT_TRUE(ui.drew("Type a reference above"));
}

TEST_F(Forcing, SumsUpTheReference) {
  show(with_gold(2));
  EXPECT_TRUE(ui.drew("First divergence at step 3"));
  const double sum = 5 * std::log(0.5) + std::log(0.125);
  EXPECT_TRUE(ui.drew(std::to_string(-sum).substr(0, 4)));  // Σ log p
  EXPECT_TRUE(ui.drew(number_text(std::exp(-sum / 6))));    // perplexity
  EXPECT_TRUE(ui.drew("other"));
}

TEST_F(Forcing, SaysWhenBothAreTheSame) {
  show(with_gold(-1));
  EXPECT_TRUE(ui.drew("The free-running output is the reference"));
}

TEST_F(Forcing, AClickGoesToTheStep) {
  show(with_gold(2));
  const auto at = ui.find_text("other");
  ASSERT_TRUE(at);
  ui.click(*at, draw);
  EXPECT_EQ(decoding.time_step, 2);
  EXPECT_FALSE(decoding.playing);
}

TEST_F(Forcing, IsAlignedBehindAPrompt) {
  ModelConfig model;
  model.architecture = "decoder-only";
  auto snapshot = snapshot_of_model(model);
  const std::size_t first = snapshot->forced - snapshot->prefix;
  add_gold(*snapshot, snapshot->target_out[first], 0.5F);
  add_gold(*snapshot, {777, "▁other"}, 0.25F);
  show(snapshot);
  EXPECT_TRUE(ui.drew("First divergence at step 2"));
  const auto at = ui.find_text("other");
  ASSERT_TRUE(at);
  ui.click(*at, draw);
  EXPECT_EQ(decoding.time_step, static_cast<int>(first) + 1);
}

TEST_F(Forcing, ComparesWithTheUntouchedModelWhenNothingElseIsKnown) {
  auto snapshot = with_gold(-1);
  snapshot->untouched = fixture_snapshot({4, 6, 2, 2});
  snapshot->target_out[3] = {888, "▁changed"};
  show(snapshot);
  EXPECT_TRUE(ui.drew("original model's output"));
  EXPECT_TRUE(ui.drew("First divergence at step 4"));
}

TEST_F(Forcing, TakesWhatIsImpossible) {
  auto snapshot = with_gold(2);
  for (GoldStep& step : snapshot->gold) step.probability = 0;
  for (int i = 0; i < 40; ++i) add_gold(*snapshot, {777, "▁other"}, 0);
  show(snapshot);
  EXPECT_TRUE(ui.drew("First divergence at step 3"));
}

}  // namespace
}  // namespace attnscope
